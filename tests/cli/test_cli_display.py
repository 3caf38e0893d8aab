"""The live display: what an agent says while it says it, and only as long as it counts."""

import re
import time
from io import StringIO

import pytest
from rich.console import Console

from callboard.cli.views.display import Display
from callboard.cli.views.lines import describe, is_worth_a_line
from callboard.core.events import Event, LimitPaused, LimitResumed, ReplyChunk, ReplyVoided


def drawn(display: Display) -> str:
    """Return what the moving part of the display looks like right now."""
    paper = StringIO()
    Console(file=paper, width=80).print(display._stage)
    return paper.getvalue()


def said(body: ReplyChunk | ReplyVoided) -> Event:
    return Event(0, 0, body, "sess_1", "run_1", "say")


def test_text_that_does_not_count_any_more_is_taken_back() -> None:
    display = Display()
    display.show_live(said(ReplyChunk("writer", "The sea is wild")))
    assert "The sea is wild" in drawn(display)
    display.show_live(said(ReplyVoided("writer", "It is asked again.")))
    assert "wild" not in drawn(display)
    display.show_live(said(ReplyChunk("writer", "The sea is calm.")))
    assert "The sea is calm." in drawn(display)
    assert "wild" not in drawn(display)


@pytest.mark.req("ERR-05")
def test_a_rate_limit_counts_down_and_is_not_shown_as_a_failure() -> None:
    display = Display()
    until = int(time.time() * 1000) + 61_000
    paused = Event(
        1, 0, LimitPaused("openai (key ab12)", "openai", until, 1, "slow down"), "s", "r"
    )
    display.show(paused)
    (left,) = re.findall(r"openai \(key ab12\) asks us to wait: goes on in (\d+) s", drawn(display))
    assert 55 <= int(left) <= 61
    line = describe(paused)
    assert is_worth_a_line(paused)
    assert (line.mark, line.kind, line.facts) == ("·", "model", "openai (key ab12)")
    assert "asks us to wait until" in line.text
    display.show(Event(2, 0, LimitResumed("openai (key ab12)", "openai", 1), "s", "r"))
    assert "asks us to wait" not in drawn(display)


def test_a_pause_whose_end_nobody_told_is_not_counted_below_zero() -> None:
    display = Display()
    over = LimitPaused("openai", "openai", int(time.time() * 1000) - 1, 1, "slow down")
    display.show(Event(1, 0, over, "s", "r"))
    assert "asks us to wait" not in drawn(display)

"""What tools keep between calls, and how their summaries are cut."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolhouse import House

from callboard.core.vocabulary import ModelTier
from callboard.tools import (
    SUMMARY_BUDGET_CHARS,
    Kept,
    Policy,
    ProjectFiles,
    ToolArgs,
    ToolCall,
    ToolContext,
    ToolResult,
    fit_summary,
    tool,
)


class NoArgs(ToolArgs):
    """Nothing."""


@tool()
def count_calls(context: ToolContext, _args: NoArgs) -> ToolResult:
    """Count how often it was called."""
    calls = context.kept.get("calls", list[int])
    calls.append(1)
    return ToolResult({"calls": len(calls)}, "counted")


@pytest.mark.anyio
async def test_what_a_tool_keeps_outlives_its_call(house: House) -> None:
    house.service.registry.register(count_calls)
    seen: list[int] = []
    for _ in range(3):
        ran = await house.service.run(ToolCall("count_calls", {}, "sess_one"), Policy())
        seen.append(ran.execution.unwrap().payload["calls"])
    assert seen == [1, 2, 3]


def test_a_context_made_by_hand_keeps_for_itself(tmp_path: Path) -> None:
    one = ToolContext(ProjectFiles(tmp_path), "sess_one")
    two = ToolContext(ProjectFiles(tmp_path), "sess_one")
    assert one.kept.get("x", list[int]) is one.kept.get("x", list[int])
    assert one.kept.get("x", list[int]) is not two.kept.get("x", list[int])


def test_a_value_is_made_once_however_many_ask() -> None:
    kept = Kept()
    made: list[int] = []
    ready = threading.Barrier(8)

    def make() -> object:
        made.append(1)
        return object()

    found: list[object] = []

    def ask() -> None:
        ready.wait()
        found.append(kept.get("key", make))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, found))) == 1


def test_a_failure_is_not_kept_and_the_oldest_goes_first() -> None:
    kept = Kept(most=2)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)
    assert kept.get("a", lambda: 1) == 1
    assert kept.get("b", lambda: 2) == 2
    assert kept.get("a", lambda: 9) == 1
    assert kept.get("c", lambda: 3) == 3
    assert kept.get("b", lambda: 8) == 8
    assert kept.get("c", lambda: 9) == 3


@given(st.lists(st.text(max_size=60), max_size=40).map("\n".join), st.integers(0, 400))
def test_a_summary_is_cut_at_a_line_and_never_too_long(text: str, budget_chars: int) -> None:
    cut = fit_summary(text, budget_chars)
    assert len(cut) <= budget_chars or cut == text == ""
    if len(text) <= budget_chars:
        assert cut == text
    elif cut.endswith("more lines in the receipt)"):
        assert text.startswith(cut.rpartition("\n")[0] + "\n")
    else:
        assert text.startswith(cut.removesuffix("…"))


def test_each_tier_affords_more() -> None:
    sizes = [
        SUMMARY_BUDGET_CHARS[tier] for tier in (ModelTier.MINIMAL, ModelTier.MEDIUM, ModelTier.FULL)
    ]
    assert sizes == [1_500, 6_000, 12_000]

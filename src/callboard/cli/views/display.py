"""A run in a terminal: finished steps as lines, running ones below with what is being said."""

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from callboard.cli.output import clean, one_line
from callboard.cli.views.lines import ASKS, BAD, OK, EventLine, describe, is_worth_a_line
from callboard.core.events import Event, LimitPaused, LimitResumed, ReplyChunk, ReplyVoided
from callboard.core.run_events import RunChanged, StepDone, StepFailed, StepStarted, StepUnknown

_COLOURS: Final = {OK: "green", BAD: "red", ASKS: "yellow"}
_TAIL_LINES: Final = 4
_TAIL_CHARS: Final = 2_000
_MOST_SHOWN: Final = 6


@dataclass(slots=True)
class _Running:
    key: str
    kind: str
    since: float
    spinner: Spinner
    agent: str = ""
    said: str = ""


@dataclass(slots=True)
class _Stage:
    """What is going on right now; written by the event loop, read by the drawing thread."""

    running: dict[str, _Running] = field(default_factory=dict[str, _Running])
    # When each credential that was limited goes on, in milliseconds.
    pauses: dict[str, int] = field(default_factory=dict[str, int])
    # Shown between two steps: a display without a line would leave empty ones behind.
    idle: Spinner = field(default_factory=lambda: Spinner("dots", style="dim"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console  # the protocol names it; the width comes with the options
        shown: list[RenderableType] = []
        steps = list(self.running.values())
        for step in steps[:_MOST_SHOWN]:
            waited = f"{time.monotonic() - step.since:.0f} s"
            facts = " · ".join(part for part in (step.agent, waited) if part)
            step.spinner.update(text=Text(clean(f"{step.kind:<8} {step.key:<16}  {facts}")))
            shown.append(step.spinner)
            if step.said:
                shown.append(Text(_tail(step.said, options.max_width), style="dim"))
        shown += [Text(clean(line), style="yellow") for line in self._countdowns()]
        if len(steps) > _MOST_SHOWN:
            shown.append(Text(f"  and {len(steps) - _MOST_SHOWN} more", style="dim"))
        yield Group(*shown) if shown else self.idle

    def _countdowns(self) -> list[str]:
        """Return how long each pause still lasts; one that is over is nobody's concern."""
        now_ms = time.time() * 1000
        return [
            f"  {one_line(credential)} asks us to wait: goes on in {(until - now_ms) / 1000:.0f} s"
            for credential, until in list(self.pauses.items())
            if until > now_ms
        ]


class Display:
    """Draws on standard error, so that standard output stays the result's."""

    def __init__(self) -> None:
        """Prepare; nothing is drawn before the context is entered."""
        self._console = Console(stderr=True, highlight=False)
        self._stage = _Stage()
        self._live = self._new_live()

    @property
    def can_ask(self) -> bool:
        """Whether a person sits in front of it."""
        return sys.stdin.isatty()

    def __enter__(self) -> "Display":
        """Begin to draw."""
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Take the moving part down; the lines stay."""
        self._stage.running.clear()
        self._live.stop()

    def show(self, event: Event) -> None:
        """Draw what has happened."""
        key, body = event.step_key or "", event.body
        if isinstance(body, StepStarted):
            self._begin(key, body.kind)
        elif isinstance(body, StepDone | StepFailed | StepUnknown):
            self._stage.running.pop(key, None)
        elif isinstance(body, RunChanged):
            self._stage.running.clear()
        elif isinstance(body, LimitPaused):
            self._stage.pauses[body.credential] = body.resume_at
        elif isinstance(body, LimitResumed):
            self._stage.pauses.pop(body.credential, None)
        if is_worth_a_line(event):
            self._console.print(_styled(describe(event)), no_wrap=True, overflow="ellipsis")

    def show_live(self, event: Event) -> None:
        """Draw what an agent is saying, and take back what does not count any more."""
        if event.step_key is None:
            return
        if isinstance(event.body, ReplyVoided):
            self._begin(event.step_key, "agent").said = ""
        if not isinstance(event.body, ReplyChunk):
            return
        step = self._begin(event.step_key, "agent")
        step.agent = event.body.agent_id
        step.said = (step.said + event.body.text)[-_TAIL_CHARS:]

    def note(self, text: str) -> None:
        """Write a line above what is moving."""
        self._console.print(Text(clean(text), style="dim"))

    @contextmanager
    def set_aside(self) -> Generator[None]:
        """Take the moving part down for a question, and put it up again."""
        self._live.stop()
        try:
            yield
        finally:
            self._live = self._new_live()
            self._live.start()

    def _begin(self, key: str, kind: str) -> _Running:
        if key not in self._stage.running:
            spinner = Spinner("dots", style="cyan")
            self._stage.running[key] = _Running(key, kind, time.monotonic(), spinner)
        return self._stage.running[key]

    def _new_live(self) -> Live:
        return Live(self._stage, console=self._console, transient=True, refresh_per_second=8)


def _styled(line: EventLine) -> Text:
    text = Text()
    text.append(line.mark, style=_COLOURS.get(line.mark, "dim"))
    text.append(f" {clean(line.kind):<8} ", style="dim")
    text.append(f"{clean(line.key):<16}" if line.key else "", style="bold")
    if line.facts:
        text.append(f"  {clean(line.facts)}", style="cyan")
    if line.text:
        text.append(f"  {clean(line.text)}", style="red" if line.mark == BAD else "")
    return text


def _tail(said: str, width: int) -> str:
    room = max(20, width - 4)
    flat = one_line(said)
    pieces = [flat[start : start + room] for start in range(0, len(flat), room)]
    return "\n".join(f"  {piece}" for piece in pieces[-_TAIL_LINES:])

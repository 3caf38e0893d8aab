"""Watching a loop: one readable line for each step and what went wrong; the rest on wish."""

from contextlib import AbstractContextManager
from typing import Any, cast

from callboard.cli.output import clean
from callboard.cli.views.lines import is_worth_a_line
from callboard.cli.views.view import WatchView
from callboard.core.events import Emitted, Event
from callboard.core.run_events import (
    QuestionAnswered,
    QuestionAsked,
    RunChanged,
    StepFailed,
    StepUnknown,
)

_LOOP = "loop."
_ALWAYS = (QuestionAsked, QuestionAnswered, RunChanged, StepFailed, StepUnknown)


class LoopWatch:
    """A view that tells what became of each step of a loop, in words."""

    def __init__(self, view: WatchView) -> None:
        """Take what draws."""
        self._view = view

    @property
    def can_ask(self) -> bool:
        """Whether a person sits in front of it who can answer a question."""
        return self._view.can_ask

    def __enter__(self) -> "LoopWatch":
        """Begin to show."""
        self._view.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the place as it was found."""
        self._view.__exit__(*error)

    def show(self, event: Event) -> None:
        """Show how a step ended, what is asked, and what went wrong."""
        body = event.body
        if isinstance(body, Emitted):
            if told := told_of(body):
                self.note(told)
        elif isinstance(body, _ALWAYS) or not is_worth_a_line(event):
            # What is worth no line still moves a live display.
            self._view.show(event)

    def show_live(self, event: Event) -> None:
        """Show something that only those who watch ever see."""
        self._view.show_live(event)

    def note(self, text: str) -> None:
        """Say something about the run that is not an event."""
        self._view.note(text)

    def set_aside(self) -> AbstractContextManager[object]:
        """Give the terminal free for a question, for as long as the context lasts."""
        return self._view.set_aside()


def told_of(body: Emitted) -> str:
    """Return what a loop told, in a line; empty for what only a log wants to know."""
    data = cast("dict[str, Any]", body.data)
    match body.name.removeprefix(_LOOP):
        case "opened":
            return clean(f"{data['loop']} works on {data['unit']}")
        case "step.finished":
            by = f" by {data['by']}" if data.get("by") else ""
            why = data.get("why") or "; ".join(data.get("errors") or ())
            return clean(f"{data['step']}{by}: {data.get('status', 'done')} {why}".rstrip())
        case "revision":
            return clean(f"  {data['target_step']} shall be revised: {data['reason']}")
        case _:
            return ""

"""A run without a terminal: one plain line per step on standard error, no control codes."""

import sys
from contextlib import AbstractContextManager, nullcontext

from callboard.cli.output import remark
from callboard.cli.views.lines import describe, is_worth_a_line
from callboard.core.events import Event


class PlainLines:
    """Writes a line when something has happened."""

    @property
    def can_ask(self) -> bool:
        """Whether a person sits in front of it, on a terminal too plain for a display."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def __enter__(self) -> "PlainLines":
        """Begin to show."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""

    def show(self, event: Event) -> None:
        """Write one line."""
        if is_worth_a_line(event):
            remark(str(describe(event)))

    def show_live(self, event: Event) -> None:
        """Leave it out: half sentences are of no use in a log."""

    def note(self, text: str) -> None:
        """Write one line."""
        remark(text)

    def set_aside(self) -> AbstractContextManager[object]:
        """Do nothing: lines are in nobody's way."""
        return nullcontext()

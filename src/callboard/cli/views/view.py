"""What every way of watching a run offers, and the choice between them."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from callboard.cli.output import echo_json_line, remark
from callboard.cli.views.lines import describe, is_worth_a_line
from callboard.core.events import Event


class WatchView(Protocol):
    """Shows a run while it is executed; a context, so that a display can be taken down."""

    @property
    def can_ask(self) -> bool:
        """Whether a person sits in front of it who can answer a question."""
        ...

    def __enter__(self) -> "WatchView":
        """Begin to show."""
        ...

    def __exit__(self, *_error: object) -> None:
        """Leave the place as it was found."""
        ...

    def show(self, event: Event) -> None:
        """Show something that is stored."""
        ...

    def show_live(self, event: Event) -> None:
        """Show something that only those who watch ever see."""
        ...

    def note(self, text: str) -> None:
        """Say something about the run that is not an event."""
        ...

    def set_aside(self) -> AbstractContextManager[object]:
        """Give the terminal free for a question, for as long as the context lasts."""
        ...


def choose_view(*, as_json: bool) -> WatchView:
    """Return JSON lines, a live display if someone looks at a terminal, else plain lines."""
    if as_json:
        return JsonLines()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from callboard.cli.views.display import Display

        return Display()

    return PlainLines()


class JsonLines:
    """Writes events as they are stored; leaves out what is only shown live."""

    can_ask = False

    def __enter__(self) -> "JsonLines":
        """Begin to show."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""

    def show(self, event: Event) -> None:
        """Write one line."""
        echo_json_line(event.to_json())

    def show_live(self, event: Event) -> None:
        """Leave it out: the whole reply comes with its step."""

    def note(self, text: str) -> None:
        """Leave it out: it is for people."""

    def set_aside(self) -> AbstractContextManager[object]:
        """Do nothing: nobody is asked here."""
        return nullcontext()


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

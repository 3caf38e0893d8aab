"""What every way of watching a run offers, and the choice between them."""

import os
import sys
from contextlib import AbstractContextManager
from typing import Protocol

from callboard.core.events import Event


class View(Protocol):
    """Shows a run while it is executed; a context, so that a display can be taken down."""

    @property
    def can_ask(self) -> bool:
        """Whether a person sits in front of it who can answer a question."""
        ...

    def __enter__(self) -> "View":
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


def choose_view(*, as_json: bool) -> View:
    """Return JSON lines, a live display if someone looks at a terminal, else plain lines."""
    if as_json:
        from callboard.cli.views.json_lines import JsonLines

        return JsonLines()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from callboard.cli.views.display import Display

        return Display()
    from callboard.cli.views.plain_lines import PlainLines

    return PlainLines()

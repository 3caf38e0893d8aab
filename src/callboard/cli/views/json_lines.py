"""A run for programs: one JSON line per stored event on standard output, nothing else."""

from contextlib import AbstractContextManager, nullcontext

from callboard.cli.output import echo_json_line
from callboard.core.events import Event


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

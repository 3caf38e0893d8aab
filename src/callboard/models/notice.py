"""Notify: how the gate tells the rest of the house what happens to calls. It stores nothing."""

from collections.abc import Callable

from callboard.core.events import EventBody
from callboard.models.types import ModelRequest

Notify = Callable[[EventBody, ModelRequest | None], None]
"""Takes an event and the request it is about, if it is about one; returns at once."""


def say_nothing(_body: EventBody, _request: ModelRequest | None) -> None:
    """Notify nobody."""

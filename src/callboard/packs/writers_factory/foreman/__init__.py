"""The Foreman: one agent, rebuilt from the state of the book at every turn."""

from callboard.packs.writers_factory.foreman.chat import ForemanBusy, ForemanChat
from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.hands import (
    Answered,
    BibleHands,
    Hands,
    MemoryHands,
    Proposed,
    WorkHands,
    Written,
)
from callboard.packs.writers_factory.foreman.state import SessionState

__all__ = [
    "Answered",
    "BibleHands",
    "Foreman",
    "ForemanBusy",
    "ForemanChat",
    "Hands",
    "MemoryHands",
    "Proposed",
    "SessionState",
    "WorkHands",
    "Written",
]

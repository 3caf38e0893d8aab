"""The Foreman: one agent, rebuilt from the state of the book at every turn."""

from callboard.packs.writers_factory.foreman.chat import ForemanBusy, ForemanChat
from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.state import SessionState

__all__ = ["Foreman", "ForemanBusy", "ForemanChat", "SessionState"]

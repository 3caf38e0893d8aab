"""The Foreman: one agent, rebuilt from the state of the book at every turn."""

from callboard.packs.writers_factory.foreman.chat import ForemanBusy
from callboard.packs.writers_factory.foreman.foreman import Foreman

__all__ = ["Foreman", "ForemanBusy"]

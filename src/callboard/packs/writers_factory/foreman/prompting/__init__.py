"""Prompts of the Foreman: authored texts, the list of actions, and the seven layers."""

from callboard.packs.writers_factory.foreman.prompting.sandwich import Sandwich, TurnText
from callboard.packs.writers_factory.foreman.prompting.texts import Texts, mode_file

__all__ = ["Sandwich", "Texts", "TurnText", "mode_file"]

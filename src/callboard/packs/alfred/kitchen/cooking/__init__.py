"""Cooking: one recipe at the stove, step by step, until it is done."""

from callboard.packs.alfred.kitchen.cooking.commands import CookCommand, read_command
from callboard.packs.alfred.kitchen.cooking.session import CookSession, CookSessions

__all__ = ["CookCommand", "CookSession", "CookSessions", "read_command"]

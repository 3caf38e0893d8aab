"""Turns with a model that speaks for itself: routing, asking, manner, and the account of it."""

from callboard.packs.writers_factory.foreman.talk.account import MESSAGE_EVENT, Opening
from callboard.packs.writers_factory.foreman.talk.lint import style_lint
from callboard.packs.writers_factory.foreman.talk.routing import Route, classify, route
from callboard.packs.writers_factory.foreman.talk.turn import TalkedTurn

__all__ = [
    "MESSAGE_EVENT",
    "Opening",
    "Route",
    "TalkedTurn",
    "classify",
    "route",
    "style_lint",
]

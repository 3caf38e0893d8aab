"""Turns with a model that speaks for itself: routing, asking, manner, and the account of it."""

from callboard.packs.writers_factory.foreman.talk.asking import style_lint
from callboard.packs.writers_factory.foreman.talk.routing import classify, route

__all__ = ["classify", "route", "style_lint"]

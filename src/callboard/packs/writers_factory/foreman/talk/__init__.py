"""Turns with a model that speaks for itself: routing, asking, manner, and the account of it."""

from callboard.packs.writers_factory.foreman.talk.asking import classify, route, style_lint

__all__ = ["classify", "route", "style_lint"]

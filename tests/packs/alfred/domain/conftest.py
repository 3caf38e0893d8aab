"""Fixtures of the kitchen's tests; the household itself is in a module tests can import."""

from kitchen_home import empty_home, home

__all__ = ["empty_home", "home"]

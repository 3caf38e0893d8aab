"""Fixtures of the conversation's tests; the parlour itself is in a module tests can import."""

from turn_parlour import domain, parlour_of, tiny

__all__ = ["domain", "parlour_of", "tiny"]

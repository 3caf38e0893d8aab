"""Soft facts: what was said, before and after it becomes part of the graph."""

from callboard.knowledge.facts.facts import Facts
from callboard.knowledge.facts.values import FactRevision, FactState, KBEntry

__all__ = ["FactRevision", "FactState", "Facts", "KBEntry"]

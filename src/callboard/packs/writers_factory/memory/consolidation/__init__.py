"""Consolidation: decisions and conversations become part of the graph, or a question."""

from callboard.packs.writers_factory.memory.consolidation.consolidator import (
    ConsolidationClock,
    Consolidator,
)
from callboard.packs.writers_factory.memory.consolidation.merging import Report
from callboard.packs.writers_factory.memory.consolidation.resolving import NotTheWriter
from callboard.packs.writers_factory.memory.consolidation.running import (
    CONSOLIDATE,
    AlreadyRunning,
    Consolidate,
)

__all__ = [
    "CONSOLIDATE",
    "AlreadyRunning",
    "Consolidate",
    "ConsolidationClock",
    "Consolidator",
    "NotTheWriter",
    "Report",
]

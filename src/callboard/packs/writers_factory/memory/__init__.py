"""The Foreman's memory: decisions, notebooks, and their way into the graph."""

from callboard.packs.writers_factory.memory.consolidation import (
    CONSOLIDATE,
    AlreadyRunning,
    ConsolidationClock,
    Consolidator,
    NotTheWriter,
)
from callboard.packs.writers_factory.memory.decisions import MemoryCategory
from callboard.packs.writers_factory.memory.ingestion import Ingestor
from callboard.packs.writers_factory.memory.ledger import ConflictRecord
from callboard.packs.writers_factory.memory.notebooks import (
    NOT_FOUND,
    Notebook,
    NotebookPassage,
    Notebooks,
    answer_from_notebook,
)
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.memory.scenery import TimelineItem, beat_node_id

__all__ = [
    "CONSOLIDATE",
    "NOT_FOUND",
    "AlreadyRunning",
    "ConflictRecord",
    "ConsolidationClock",
    "Consolidator",
    "Ingestor",
    "Memory",
    "MemoryCategory",
    "NotTheWriter",
    "Notebook",
    "NotebookPassage",
    "Notebooks",
    "TimelineItem",
    "answer_from_notebook",
    "beat_node_id",
]

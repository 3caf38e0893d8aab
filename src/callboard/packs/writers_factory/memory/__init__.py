"""The Foreman's memory: decisions, notebooks, and their way into the graph."""

from callboard.packs.writers_factory.memory.claims import ScenePoint, find_point, value_at
from callboard.packs.writers_factory.memory.conflicts import (
    ClashKind,
    ConflictRecord,
    Resolution,
)
from callboard.packs.writers_factory.memory.consolidation import (
    CONSOLIDATE,
    AlreadyRunning,
    ConsolidationClock,
    Consolidator,
    NotTheWriter,
    Report,
)
from callboard.packs.writers_factory.memory.decisions import Category
from callboard.packs.writers_factory.memory.ingestion import Ingestor
from callboard.packs.writers_factory.memory.lines import KnowledgeLine, MemoryLine, TimelineItem
from callboard.packs.writers_factory.memory.notebooks import (
    NOT_FOUND,
    Notebook,
    NotebookAnswer,
    NotebookPassage,
    NotebookProvider,
    NotebookRole,
    Notebooks,
    answer_from_notebook,
)
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.memory.scenery import beat_node_id, scene_node_id

__all__ = [
    "CONSOLIDATE",
    "NOT_FOUND",
    "AlreadyRunning",
    "Category",
    "ClashKind",
    "ConflictRecord",
    "ConsolidationClock",
    "Consolidator",
    "Ingestor",
    "KnowledgeLine",
    "Memory",
    "MemoryLine",
    "NotTheWriter",
    "Notebook",
    "NotebookAnswer",
    "NotebookPassage",
    "NotebookProvider",
    "NotebookRole",
    "Notebooks",
    "Report",
    "Resolution",
    "ScenePoint",
    "TimelineItem",
    "answer_from_notebook",
    "beat_node_id",
    "find_point",
    "scene_node_id",
    "value_at",
]

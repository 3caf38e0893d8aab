"""Notebooks: the writer's own material, registered, searched and quoted."""

from callboard.packs.writers_factory.memory.notebooks.answering import (
    answer_from_notebook,
    check_answer,
)
from callboard.packs.writers_factory.memory.notebooks.provider import (
    NOT_FOUND,
    Notebook,
    NotebookPassage,
    SyncReport,
)
from callboard.packs.writers_factory.memory.notebooks.shelf import Notebooks

__all__ = [
    "NOT_FOUND",
    "Notebook",
    "NotebookPassage",
    "Notebooks",
    "SyncReport",
    "answer_from_notebook",
    "check_answer",
]

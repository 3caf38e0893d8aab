"""Revision: scoring, enhancing, editing, auditing and finishing what is written."""

from callboard.packs.writers_factory.revision.analysis.findings import (
    Band,
    Category,
    Issue,
    SceneAnalysis,
)
from callboard.packs.writers_factory.revision.completion.completion import Completion, WriterOnly
from callboard.packs.writers_factory.revision.editing.edits import ChangedSince, EditResult
from callboard.packs.writers_factory.revision.editing.proposals import Proposal, ProseRefused
from callboard.packs.writers_factory.revision.editing.requests import (
    EditBlocked,
    EditFailed,
    EditRequest,
)
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement
from callboard.packs.writers_factory.revision.gathering import Rooms
from callboard.packs.writers_factory.revision.revision import Revision, rank

__all__ = [
    "Band",
    "Category",
    "ChangedSince",
    "Completion",
    "EditBlocked",
    "EditFailed",
    "EditRequest",
    "EditResult",
    "Enhancement",
    "Issue",
    "Proposal",
    "ProseRefused",
    "Revision",
    "Rooms",
    "SceneAnalysis",
    "WriterOnly",
    "rank",
]

"""Revision: scoring, enhancing, editing, auditing and finishing what is written."""

from callboard.packs.writers_factory.revision.analysis.findings import Band, Category
from callboard.packs.writers_factory.revision.completion import WriterOnly
from callboard.packs.writers_factory.revision.editing.edits import ChangedSince, EditResult
from callboard.packs.writers_factory.revision.editing.proposals import EditProposal, ProseRefused
from callboard.packs.writers_factory.revision.editing.requests import (
    EditBlocked,
    EditFailed,
    EditRequest,
    Rewording,
)
from callboard.packs.writers_factory.revision.revision import Revision, rank

__all__ = [
    "Band",
    "Category",
    "ChangedSince",
    "EditBlocked",
    "EditFailed",
    "EditProposal",
    "EditRequest",
    "EditResult",
    "ProseRefused",
    "Revision",
    "Rewording",
    "WriterOnly",
    "rank",
]

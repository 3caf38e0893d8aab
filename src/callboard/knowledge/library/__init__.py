"""The library: documents as passages, found by words and by meaning."""

from callboard.knowledge.library.library import Library
from callboard.knowledge.library.passages import (
    Chunk,
    DocumentInfo,
    Passage,
    PutReport,
    SearchMode,
    SourceText,
)
from callboard.knowledge.library.rows import PreparedDocument

__all__ = [
    "Chunk",
    "DocumentInfo",
    "Library",
    "Passage",
    "PreparedDocument",
    "PutReport",
    "SearchMode",
    "SourceText",
]

"""The library: documents as passages, found by words and by meaning."""

from callboard.knowledge.library.library import Library
from callboard.knowledge.library.rows import Prepared
from callboard.knowledge.library.values import (
    Chunk,
    DocumentInfo,
    Passage,
    PutReport,
    SearchMode,
    SourceText,
)

__all__ = [
    "Chunk",
    "DocumentInfo",
    "Library",
    "Passage",
    "Prepared",
    "PutReport",
    "SearchMode",
    "SourceText",
]

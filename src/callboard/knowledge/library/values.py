"""Values of the library: documents that go in, passages that come out."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document's text, as its owner read it. Without `sha256` the text is hashed here."""

    path: str
    text: str
    sha256: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class PutReport:
    """What putting documents into a collection did."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: whole lines, or a part of one line too long to stay whole."""

    heading: str
    text: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in a document that answers a query, the lines counted from 1.

    `score` orders the passages of one search and means nothing between searches. `bm25` is above
    zero if words of the query occur; `similarity` is the cosine of the meanings, if it was looked
    at.
    """

    collection: str
    path: str
    text: str
    line_start: int
    line_end: int
    score: float
    heading: str = ""
    title: str = ""
    bm25: float = 0.0
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of a collection, without its text."""

    path: str
    title: str
    sha256: str
    characters: int
    passages: int
    updated_at: int


class SearchMode(StrEnum):
    """What a search goes by: words, meaning, or both."""

    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"

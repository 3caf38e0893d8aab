"""What story tools speak in: verbatim quotes and findings that rest on them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from callboard.core.canonical import Json


class FileKind(StrEnum):
    """What a file of the project is to the story."""

    SCENE = "scene"
    OUTLINE = "outline"
    CANON = "canon"
    OTHER = "other"


class Severity(StrEnum):
    """How much an editor should care."""

    MAJOR = "major"
    MINOR = "minor"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class StoryFile:
    """A file of the project and what it says about itself."""

    path: str
    kind: FileKind
    title: str
    sha256: str
    word_count: int
    scene_number: int | None = None
    # Of a file that says which chapter it is a scene of; its number is then counted in there.
    chapter: int | None = None
    pov: str | None = None
    location: str | None = None
    when: str | None = None
    characters: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    stakes: str | None = None
    is_flashback: bool = False
    target_words: int | None = None

    @property
    def label(self) -> str:
        """How the scene is called: its number, or `ch2-sc1` where chapters count their own."""
        number = "?" if self.scene_number is None else str(self.scene_number)
        return number if self.chapter is None else f"ch{self.chapter}-sc{number}"

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {
            "path": self.path,
            "type": self.kind.value,
            "title": self.title,
            "chapter": self.chapter,
            "scene_number": self.scene_number,
            "pov": self.pov,
            "location": self.location,
            "when": self.when,
            "characters": list(self.characters),
            "word_count": self.word_count,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Quote:
    """Text that stands word for word at its lines, counted from 1 in the original file."""

    path: str
    line_start: int
    line_end: int
    text: str

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {
            "path": self.path,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class StoryFinding:
    """Something a tool noticed, with the text that shows it; agents judge it."""

    id: str
    type: str
    severity: Severity
    message: str
    quotes: tuple[Quote, ...]
    suggestion: str = ""
    confidence: float = 1.0

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold."""
        return {
            "id": self.id,
            "type": self.type,
            "severity": self.severity.value,
            "message": self.message,
            "quotes": [quote.to_json() for quote in self.quotes],
            "suggestion": self.suggestion,
            "confidence": round(self.confidence, 2),
        }

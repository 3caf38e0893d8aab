"""Extraction: what a conversation establishes about the story, checked against its words."""

from callboard.packs.writers_factory.memory.extraction.asking import (
    Interview,
    find_in_text,
    interview_on,
)
from callboard.packs.writers_factory.memory.extraction.candidates import find_candidates
from callboard.packs.writers_factory.memory.extraction.claiming import Claiming
from callboard.packs.writers_factory.memory.extraction.dating import since_scene
from callboard.packs.writers_factory.memory.extraction.reading import (
    Found,
    FoundNode,
    is_mentioned,
    keep_mentioned,
    read_found,
)

__all__ = [
    "Claiming",
    "Found",
    "FoundNode",
    "Interview",
    "find_candidates",
    "find_in_text",
    "interview_on",
    "is_mentioned",
    "keep_mentioned",
    "read_found",
    "since_scene",
]

"""Decisions: what may be remembered, under which category and key. Refuses what is empty."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.core.words import folded
from callboard.packs.writers_factory.bible.provenance import source_name

MAX_KEY_CHARS: Final = 120
MAX_VALUE_CHARS: Final = 8_000
CONVERSATION: Final = "conversation"
_NOT_KEY: Final = re.compile(r"[^\w]+")


class MemoryCategory(StrEnum):
    """What a decision is about."""

    CHARACTER = "character"
    WORLD = "world"
    STRUCTURE = "structure"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    VOICE = "voice"
    CORRECTION = "correction"
    CONTINUITY = "continuity"


@dataclass(frozen=True, slots=True)
class RememberedDecision:
    """A decision in the form it is kept in."""

    category: str
    key: str
    value: str
    source: str = ""


def read_decision(category: str, key: str, value: str, source: str = "") -> RememberedDecision:
    """Check what somebody wants remembered and bring it into its kept form."""
    return RememberedDecision(
        read_category(category).value,
        clean_key(key),
        clean_value(value),
        source_name(source) or CONVERSATION,
    )


def read_category(name: str) -> MemoryCategory:
    """Return a category by its name."""
    try:
        return MemoryCategory(name.strip().lower())
    except ValueError:
        raise InvalidInput(
            f"{name!r} is no category of decision",
            fix=f"Use one of: {', '.join(MemoryCategory)}.",
            category=name[:MAX_KEY_CHARS],
        ) from None


def clean_key(key: str) -> str:
    """Return a key as it is kept: lower case, words joined by underscores."""
    joined = _NOT_KEY.sub("_", folded(key)).strip("_")
    cleaned = re.sub(r"_+", "_", joined)
    if not cleaned or len(cleaned) > MAX_KEY_CHARS:
        raise InvalidInput(
            f"{key[:60]!r} cannot name a decision",
            fix=f"Use words joined by underscores, at most {MAX_KEY_CHARS} characters.",
        )
    return cleaned


def clean_value(value: str) -> str:
    """Return a value without control characters; an empty one is refused."""
    cleaned = without_controls(value).strip()
    if not cleaned:
        raise InvalidInput("A decision without a value is no decision", fix="Say what was decided.")
    if len(cleaned) > MAX_VALUE_CHARS:
        raise InvalidInput(
            f"The decision is {len(cleaned)} characters long",
            fix=f"Keep the essence, at most {MAX_VALUE_CHARS} characters; long text is a file.",
        )
    return cleaned


def without_controls(text: str) -> str:
    """Return a text without control characters; line ends and tabs stay."""
    return "".join(
        each for each in text if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cs")
    )

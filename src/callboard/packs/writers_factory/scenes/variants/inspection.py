"""Inspection: what code finds in a draft. Asks no model and changes nothing."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.text import Document, content_stems, stem, words_of
from callboard.packs.writers_factory.manuscript import count_prose
from callboard.packs.writers_factory.prose import (
    PatternHit,
    PatternSeverity,
    PatternSheet,
    measure,
    scan,
)
from callboard.packs.writers_factory.scenes.scaffolds import Thread, breaches
from callboard.packs.writers_factory.scenes.variant import Flag

_LEAST_WORDS_TO_JUDGE: Final = 60
_UNKNOWN: Final = ("", "unknown", "mixed")


@dataclass(frozen=True, slots=True)
class Standard:
    """What a draft is held against."""

    word_target: int
    tolerance: float
    retry: float
    patterns: PatternSheet | None = None
    pov: str = ""
    tense: str = ""
    callbacks: tuple[Thread, ...] = ()
    corrections: tuple[str, ...] = ()
    chapter: int = 1


def off_length(text: str, standard: Standard) -> float:
    """Return how far a draft is from its length: -0.3 is 30 % too short."""
    return count_prose(text) / max(1, standard.word_target) - 1


def needs_length(text: str, standard: Standard) -> bool:
    """Say whether a draft is so far off that it is worth another call."""
    return abs(off_length(text, standard)) > standard.retry


def forbidden(text: str, standard: Standard) -> tuple[PatternHit, ...]:
    """Return what may not stand in any draft."""
    hits = scan(text, patterns=standard.patterns, pov=standard.pov or None)
    return tuple(hit for hit in hits if hit.severity is PatternSeverity.ZERO_TOLERANCE)


def sentences_with(text: str, hits: Sequence[PatternHit]) -> tuple[str, ...]:
    """Return the sentences the hits stand in, each once, word for word."""
    found: dict[str, None] = {}
    for hit in hits:
        start, end = _sentence_around(text, hit.offset, hit.end)
        found.setdefault(text[start:end])
    return tuple(found)


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    before = max(
        (hit.end() for hit in _BREAK.finditer(text, 0, start) if hit.end() <= start), default=0
    )
    after = _STOP.search(text, max(before, end - 1))
    return before, after.end() if after else len(text)


_BREAK: Final = re.compile(r"[.!?…][\"”’')]*\s+|\n+")
_STOP: Final = re.compile(r"[.!?…][\"”’')]*(?=\s|$)|(?=\n)")


def missing_callbacks(text: str, callbacks: Iterable[Thread]) -> tuple[Thread, ...]:
    """Return the callbacks a draft does not mention."""
    stems = {stem(word) for word in words_of(text)}
    return tuple(each for each in callbacks if not mentions(stems, each.name))


def mentions(stems: set[str], name: str) -> bool:
    """Say whether a text, as the stems of its words, speaks of something.

    A short name must be there whole; of a longer one, most of the words that carry it.
    """
    wanted = content_stems(name) or {stem(word) for word in words_of(name)}
    if not wanted:
        return False
    needed = len(wanted) if len(wanted) <= 2 else -(-len(wanted) * 3 // 5)
    return len(wanted & stems) >= needed


def hints(stems: set[str], name: str) -> bool:
    """Say whether a text touches something to come: two of the words that carry it are enough."""
    telling = content_stems(name)
    return bool(telling) and len(telling & stems) >= min(2, len(telling))


def inspect(text: str, standard: Standard) -> tuple[Flag, ...]:
    """Return everything the writer should know of a draft."""
    flags: list[Flag] = []
    off = off_length(text, standard)
    if abs(off) > standard.tolerance:
        told = f"{count_prose(text)} words where {standard.word_target} were wanted"
        flags.append(Flag("length", told))
    flags += [Flag("zero_tolerance", hit.pattern, hit.quote) for hit in forbidden(text, standard)]
    flags += _manner(text, standard)
    flags += [
        Flag("callback_missing", str(each)) for each in missing_callbacks(text, standard.callbacks)
    ]
    told_wrong = breaches(text, standard.corrections, standard.chapter)
    return (*flags, *(Flag("correction", each) for each in told_wrong))


def _manner(text: str, standard: Standard) -> list[Flag]:
    """Return whether the point of view and the tense are those of the voice."""
    if Document("draft", text).word_count < _LEAST_WORDS_TO_JUDGE:
        return []
    found = measure(text)
    flags: list[Flag] = []
    for code, is_so, wanted in (
        ("pov", found.pov, standard.pov),
        ("tense", found.tense, standard.tense),
    ):
        if is_so in _UNKNOWN or wanted.lower() in _UNKNOWN:
            continue
        if not wanted.lower().startswith(is_so.lower()):
            flags.append(Flag(code, f"{is_so} where the voice is {wanted}"))
    return flags

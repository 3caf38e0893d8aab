"""Inspection: what code finds in a draft. Asks no model and changes nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
from callboard.packs.writers_factory.scenes.drafts import DraftFlag
from callboard.packs.writers_factory.scenes.scaffolds import SceneThread, breaches
from callboard.replies import parse_reply

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
    callbacks: tuple[SceneThread, ...] = ()
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


def missing_callbacks(text: str, callbacks: Iterable[SceneThread]) -> tuple[SceneThread, ...]:
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


def hints(stems: set[str], name: str, people: Iterable[str] = ()) -> bool:
    """Say whether a text touches something to come: two of the words that carry it are enough.

    Names of people who are there anyway carry nothing.
    """
    telling = content_stems(name, idle=frozenset(words_of(" ".join(people))))
    return bool(telling) and len(telling & stems) >= min(2, len(telling))


def inspect(text: str, standard: Standard) -> tuple[DraftFlag, ...]:
    """Return everything the writer should know of a draft."""
    flags: list[DraftFlag] = []
    off = off_length(text, standard)
    if abs(off) > standard.tolerance:
        told = f"{count_prose(text)} words where {standard.word_target} were wanted"
        flags.append(DraftFlag("length", told))
    flags += [
        DraftFlag("zero_tolerance", hit.pattern, hit.quote) for hit in forbidden(text, standard)
    ]
    flags += _manner(text, standard)
    flags += [
        DraftFlag("callback_missing", str(each))
        for each in missing_callbacks(text, standard.callbacks)
    ]
    told_wrong = breaches(text, standard.corrections, standard.chapter)
    return (*flags, *(DraftFlag("correction", each) for each in told_wrong))


def _manner(text: str, standard: Standard) -> list[DraftFlag]:
    """Return whether the point of view and the tense are those of the voice."""
    if Document("draft", text).word_count < _LEAST_WORDS_TO_JUDGE:
        return []
    found = measure(text)
    flags: list[DraftFlag] = []
    for code, is_so, wanted in (
        ("pov", found.pov, standard.pov),
        ("tense", found.tense, standard.tense),
    ):
        if is_so in _UNKNOWN or wanted.lower() in _UNKNOWN:
            continue
        if not wanted.lower().startswith(is_so.lower()):
            flags.append(DraftFlag(code, f"{is_so} where the voice is {wanted}"))
    return flags


_TAG: Final = re.compile(
    r"</?(?:content_update|message|thinking|action|data|untrusted|response|reply)\b[^<>\n]*+>",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^(?:```|~~~)\w*[ \t]*\n(.*?)\n(?:```|~~~)[ \t]*$", re.DOTALL)
_HEADING: Final = re.compile(r"\A\s*+#{1,6}[ \t]++[^\n]*+\n+")
_NUMBERED: Final = re.compile(
    r"^[ \t]*+(\d{1,3})[.):][ \t]++(\S(?:.*[^ \t\n])?)[ \t]*$", re.MULTILINE
)
_BLANK: Final = re.compile(r"\n[ \t]*\n\s*")


def prose_of(raw: str) -> str:
    """Return the prose of a reply: its first content update, else whatever was said as text."""
    reply = parse_reply(raw)
    if reply.content_updates:
        text = reply.content_updates[0].content
    else:
        text = reply.message if not reply.actions or reply.message else ""
    return clean_prose(text)


def clean_prose(text: str) -> str:
    """Return prose without tags, fences, a heading of its own, and uneven gaps."""
    bare = text.replace("\r\n", "\n").strip()
    fenced = _FENCE.fullmatch(bare)
    bare = _TAG.sub("", fenced[1] if fenced else bare)
    return _BLANK.sub("\n\n", _HEADING.sub("", bare.strip())).strip()


def numbered_lines(raw: str, count: int) -> Mapping[int, str]:
    """Return the lines of a reply by the number they begin with, of those that were asked for."""
    found = _NUMBERED.findall(prose_of(raw))
    return {int(number): line.strip() for number, line in found if 1 <= int(number) <= count}


def replaced(text: str, sentences: Sequence[str], lines: Mapping[int, str]) -> str:
    """Return a text with some of its sentences said anew; each is replaced where it stands."""
    for number, sentence in enumerate(sentences, start=1):
        line = lines.get(number, "")
        if line:
            text = text.replace(sentence, line, 1)
    return text


def last_words(text: str, count: int) -> str:
    """Return the end of a text, beginning with a whole word."""
    words = list(re.finditer(r"\S+", text))
    return text[words[-count].start() :].strip() if len(words) > count else text.strip()

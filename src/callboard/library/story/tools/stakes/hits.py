"""Hits: the words of a scene that name what can be lost, and the phrases that press."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.lexicon import phrases_in, words_in
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import words_of
from callboard.library.story.tools.stems import different_words, table_of

_CONSEQUENCE: Final = re.compile(r"\b(?:will|shall|would|won't)\b|'(?:ll|d)\b")
_APOSTROPHE: Final = str.maketrans({"’": "'"})
_COURTEOUS_IF: Final = re.compile(
    r"\bif you(?:'ll| will| would| please)\b|\bas if\b|\byou will (?:see|know)"
)
_COURTEOUS_UNLESS: Final = re.compile(r"\bunless (?:i am|i'm|i be|you hear|otherwise)\b")


@dataclass(frozen=True, slots=True)
class Hits:
    """What one sentence, or a whole scene, has of each kind."""

    external: int = 0
    internal: int = 0
    pressure: int = 0

    def __add__(self, other: "Hits") -> "Hits":
        """Add two counts."""
        return Hits(
            self.external + other.external,
            self.internal + other.internal,
            self.pressure + other.pressure,
        )

    def __bool__(self) -> bool:
        """Say whether there is any."""
        return bool(self.external or self.internal or self.pressure)


@dataclass(frozen=True, slots=True)
class SceneHits:
    """The hits of a scene and where they stand: sentences, or lines of an outline."""

    total: Hits
    word_count: int
    places: tuple[tuple[Sentence | int, Hits], ...]


def scene_hits(document: Document) -> SceneHits:
    """Count the stakes of a scene; a text that is not English has none that could be counted."""
    if not document.is_english:
        return SceneHits(Hits(), document.word_count, ())
    sides = _sides(different_words(document.sentences))
    found = [
        (sentence, hits)
        for sentence in document.sentences
        if (hits := hits_of(sentence.text, sentence.words, sides))
    ]
    return _scene(found, document.word_count)


def line_hits(document: Document, lines: range) -> SceneHits:
    """Count the stakes of some lines, as an outline has them."""
    words = {line: words_of(document.lines[line - 1]) for line in lines}
    count = sum(len(each) for each in words.values())
    if not document.is_english:
        return SceneHits(Hits(), count, ())
    sides = _sides(frozenset(word for each in words.values() for word in each))
    found = [
        (line, hits)
        for line in lines
        if (hits := hits_of(document.lines[line - 1], words[line], sides))
    ]
    return _scene(found, count)


def hits_of(text: str, words: Sequence[str], sides: Mapping[str, float | str]) -> Hits:
    """Count the stakes of one sentence, given with its words and what they stand for."""
    external = internal = 0
    for index, word in enumerate(words):
        if word not in sides or _is_disarmed(words, index):
            continue
        external += sides[word] == "external"
        internal += sides[word] == "internal"
    return Hits(external, internal, pressure_of(text, words, is_grave=external > 0))


def _scene(found: Sequence[tuple[Sentence | int, Hits]], word_count: int) -> SceneHits:
    return SceneHits(sum((hits for _, hits in found), start=Hits()), word_count, tuple(found))


def _sides(words: frozenset[str]) -> dict[str, float | str]:
    """Return which of some words name outer and which inner stakes."""
    sides = table_of("stakes", "internal", "external").among(words)
    not_meant = words_in("stakes", "not_meant")
    return {word: side for word, side in sides.items() if word not in not_meant}


def _is_disarmed(words: Sequence[str], index: int) -> bool:
    """Say whether a word is denied, or only a manner of speaking: no danger, I am afraid so."""
    before = words[max(0, index - 2) : index]
    if "no" in before or "without" in before:
        return True
    manners = words_in("stakes", "manners_after").intersection(before[-1:])
    return bool(manners) and words[index] in words_in("stakes", "manners")


def pressure_of(text: str, words: Sequence[str], *, is_grave: bool) -> int:
    """Count what presses in one sentence: threats, deadlines, and what cannot be undone."""
    # Most sentences have none of these words and need no pattern tried on them.
    if _triggers().isdisjoint(words):
        return 0
    seen = set(words)
    plain = text.lower().translate(_APOSTROPHE)
    count = sum(not (hit == "or else" and "either" in seen) for hit in _phrases().findall(plain))
    count += "unless" in seen and not _COURTEOUS_UNLESS.search(plain)
    count += _is_threat(plain, seen, is_grave)
    return count + _is_deadline(plain, seen)


def _is_threat(plain: str, seen: set[str], is_grave: bool) -> bool:
    """Say whether a condition threatens: "if the wall falls, we will starve"."""
    if "if" not in seen or plain.rstrip(" ”\"'").endswith("?"):
        return False
    if not _CONSEQUENCE.search(plain) or _COURTEOUS_IF.search(plain):
        return False
    return is_grave or bool(seen & words_in("stakes", "threat_words"))


def _is_deadline(plain: str, seen: set[str]) -> bool:
    return bool(seen & words_in("stakes", "necessity")) and _deadlines().search(plain) is not None


@cache
def _phrases() -> re.Pattern[str]:
    phrases = sorted(phrases_in("stakes", "pressure_phrases"), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b")


@cache
def _deadlines() -> re.Pattern[str]:
    moments = "|".join(sorted(words_in("stakes", "deadline_moments")))
    units = "|".join(sorted(words_in("stakes", "deadline_units")))
    return re.compile(
        rf"\b(?:before|by|until|till)(?: the| next| first){{0,2}} (?:{moments})\b"
        rf"|\bwithin (?:the|an?|\w+) (?:{units})\b(?! of)"
        rf"|\b(?:{units}) (?:left|remaining|remain)\b"
    )


@cache
def _triggers() -> frozenset[str]:
    """Return words without which no pattern of pressure can match."""
    longest = {max(phrase.split(), key=len) for phrase in phrases_in("stakes", "pressure_phrases")}
    return words_in("stakes", "pressure_openers") | longest

"""Forbidden facts: what a correction or a rule rules out, read from its words, found by code.

Three kinds of sentences are understood: something is gone ("the gun was lost in chapter 3"),
something is not so ("Danny is not a cop"), something is to be said otherwise ("say Rue, not Ruth").
A correction in other words forbids nothing here; a judge may still see it broken.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.revision.analysis.quotes import Span, sentences_of

_GONE: Final = (
    r"lost|destroyed|stolen|sold|broken|burned|burnt|gone|buried|sunk|drowned|given away|"
    r"thrown away|dead|died|killed|missing|taken|smashed|wrecked"
)
_LOSS: Final = re.compile(
    rf"^(?:the |an? |his |her |their |my )?(?P<thing>[^,.;:]{{2,60}}?)\s++"
    rf"(?:was|is|were|are|got|has been|had been|have been|went)?+\s*+(?P<how>{_GONE})\b"
    r"(?P<rest>.*)$",
    re.IGNORECASE,
)
_CHAPTER: Final = re.compile(r"\b(?:chapter|ch\.?)\s*(\d+)", re.IGNORECASE)
_INSTEAD: Final = re.compile(
    r"(?:,\s*not|\binstead of|\brather than|\bnever say|\bdo not say|\bdon['\u2019]t say|"
    r"\bnever write|\bdo not use|\bdon['\u2019]t use|\bnever use)\s+"
    r"[\"'\u201c\u2018]?(?P<wrong>[^\"'\u201d\u2019.,;()]{2,60})",
    re.IGNORECASE,
)
_IS_NOT: Final = re.compile(
    r"^(?P<who>[^,.;:]{2,60}?)\s+(?P<verb>is|was|are|were|has|have|had)(?:\s+not|n['\u2019]t)\s+"
    r"(?P<what>[^,.;:]{2,60})",
    re.IGNORECASE,
)
# A sentence that itself speaks of the loss, or denies, does not break the correction.
_EXCUSED: Final = re.compile(
    rf"\b(?:{_GONE}|lose|lost|loss|without|no longer|remember(?:ed|s)?|used to|once|missed|"
    r"wish(?:ed)?|not|never|if only|ghost|grave|funeral|memory)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_ARTICLES: Final = re.compile(r"^(?:the|an?|his|her|their|my|any|a single)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Correction:
    """What the writer set right, in their words."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class ForbiddenFact:
    """Words a scene must not hold, because of a correction; `after_chapter` is when it begins."""

    correction: Correction
    pattern: str
    after_chapter: int | None = None
    has_excuses: bool = True


@dataclass(frozen=True, slots=True)
class Breach:
    """A forbidden fact that a scene states."""

    fact: ForbiddenFact
    span: Span


def forbidden_facts(corrections: Iterable[Correction]) -> tuple[ForbiddenFact, ...]:
    """Return what corrections rule out."""
    found: list[ForbiddenFact] = []
    for correction in corrections:
        for sentence in re.split(r"(?<=[.;!?])\s+", correction.value.strip()):
            fact = _read(correction, sentence.strip().rstrip(".;!?"))
            if fact is not None:
                found.append(fact)
    return tuple(found)


def find_breaches(
    text: str, facts: Iterable[ForbiddenFact], chapter: int | None = None
) -> tuple[Breach, ...]:
    """Return the forbidden facts a scene states, each once, at its first place."""
    found: list[Breach] = []
    sentences = sentences_of(text)
    for fact in facts:
        if _holds_from(fact, chapter):
            place = _first(sentences, fact)
            if place is not None:
                found.append(Breach(fact, place))
    return tuple(found)


def _holds_from(fact: ForbiddenFact, chapter: int | None) -> bool:
    return fact.after_chapter is None or (chapter is not None and chapter > fact.after_chapter)


def _first(sentences: Iterable[Span], fact: ForbiddenFact) -> Span | None:
    pattern = re.compile(fact.pattern, re.IGNORECASE)
    for sentence in sentences:
        if not pattern.search(sentence.quote):
            continue
        if fact.has_excuses and _EXCUSED.search(sentence.quote):
            continue
        return sentence
    return None


def _read(correction: Correction, sentence: str) -> ForbiddenFact | None:
    instead = _INSTEAD.search(sentence)
    if instead is not None:
        return ForbiddenFact(correction, _words(instead["wrong"]), has_excuses=False)
    denied = _IS_NOT.match(sentence)
    if denied is not None:
        pattern = rf"{_words(denied['who'])}\s+{denied['verb']}\s+{_words(denied['what'])}"
        return ForbiddenFact(correction, pattern)
    loss = _LOSS.match(sentence)
    if loss is None or len(loss["thing"].split()) > 5:
        return None
    chapter = _CHAPTER.search(loss["rest"])
    thing = _ARTICLES.sub("", loss["thing"]).strip()
    if not thing:
        return None
    return ForbiddenFact(correction, _words(thing), int(chapter[1]) if chapter else None)


def _words(phrase: str) -> str:
    words = phrase.split()
    return r"\b" + r"\s+".join(re.escape(word) for word in words) + r"(?:['\u2019]s)?\b"

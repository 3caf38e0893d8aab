"""Lives: sentences that tell birth, rank, kin and what somebody owns or carries."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import (
    ENTITY,
    SUBJECT,
    Masked,
    adjective,
    alternatives,
    kin_words,
    named_by,
)
from callboard.library.story.lexicon import families_in

_BIRTH_TRIGGER: Final = re.compile(r"\b(?:born|native|hail)")
_BORN: Final = re.compile(
    rf"{SUBJECT} (?:was|were) born(?: [a-z ]{{1,20}}?)?(?: on [^,.;]{{3,25}}?,?)? in "
    r"(?:the year )?(?:(?P<year>\d{4})|(?P<place>[A-Z][\w’'-]+(?: [A-Z][\w’'-]+){0,2}))"
)
_NATIVE: Final = re.compile(
    rf"{SUBJECT} (?:was a native of|is a native of|hailed from|hails from) "
    r"(?P<place>[A-Z][\w’'-]+(?: [A-Z][\w’'-]+){0,2})"
)
_OWNED: Final = re.compile(
    rf"(?P<who>{ENTITY}) (?:owned|owns|possessed|carried|carries|wore|wears) "
    r"(?P<thing>(?:an?|the|his|her) [a-z][a-z -]{2,30}?)"
    r"(?=[.,;:!?]|$| (?:and|with|in|on|at|over|under|that|which|to|of|from|for|across|around)\b)"
)


def find_lives(masked: Masked) -> Iterator[FoundClaim]:
    """Yield what a sentence says of somebody's birth or rank."""
    yield from _births(masked)
    yield from _ranks(masked)


def rank_value(text: str) -> Value | None:
    """Return a rank and the ladder it stands on; None for words that are no rank."""
    words = re.findall(r"[a-z]+", text.lower())
    for size in (2, 1):
        for at in range(len(words) - size + 1):
            name = " ".join(words[at : at + size])
            if ladders_of(name):
                return Value(name, frozenset({name}))
    return None


def ladders_of(rank: str) -> frozenset[str]:
    """Return the ladders a rank stands on: two ranks are compared within one."""
    listed = families_in("facts", "ranks")
    return frozenset(ladder for ladder, known in listed.items() if rank in known)


def _births(masked: Masked) -> Iterator[FoundClaim]:
    if not _BIRTH_TRIGGER.search(masked.text):
        return
    for pattern in (_BORN, _NATIVE):
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            told = match.groupdict()
            if who is None:
                continue
            if year := told.get("year"):
                value = Value(year, low=int(year), high=int(year))
                yield FoundClaim(Attribute.BIRTH_YEAR, value, who, match.start(), match.end())
            elif place := told.get("place"):
                value = place_value(place)
                yield FoundClaim(
                    Attribute.ORIGIN, value, who, match.start(), match.end(), None, 0.6
                )


def place_value(text: str) -> Value:
    """Return a place; each of its names may agree with another's."""
    name = text.strip().rstrip(".")
    words = frozenset(re.findall(r"[a-z]{3,}", name.lower())) - {"the", "and"}
    return Value(name, words)


def _ranks(masked: Masked) -> Iterator[FoundClaim]:
    for number, mention in enumerate(masked.mentions):
        value = rank_value(" ".join(mention.titles))
        if value is not None:
            yield FoundClaim(Attribute.RANK, value, number, 0, 0)
    if not _rank_trigger().search(masked.text):
        return
    for pattern in _rank_patterns():
        for match in pattern.finditer(masked.text):
            who, value = named_by(masked, match), rank_value(match["rank"])
            if who is not None and value is not None:
                yield FoundClaim(Attribute.RANK, value, who, match.start(), match.end(), None, 0.8)


def _ranks_listed() -> str:
    return alternatives(frozenset[str]().union(*families_in("facts", "ranks").values()))


@cache
def _rank_trigger() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_ranks_listed()})\b")


@cache
def _rank_patterns() -> tuple[re.Pattern[str], ...]:
    ranks = _ranks_listed()
    ends = r"(?=[.,;:!?]|$| (?:of|in|and|but|who|now|with|at)\b)"
    return (
        re.compile(rf"{SUBJECT} (?:was|is) (?:an? |the )(?P<rank>{ranks}){ends}"),
        re.compile(
            rf"(?P<who>{ENTITY}), (?:an? |the )?(?P<rank>{ranks}) (?:of|in) (?:the|his|her)\b"
        ),
    )


def find_ties(masked: Masked) -> Iterator[FoundClaim]:
    """Yield the ties of kin and the belongings a sentence tells of."""
    for pattern in _kin_patterns() if _kin_trigger().search(masked.text) else ():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            whom = named_by(masked, match, "whom", "their")
            if who is not None and whom is not None and who != whom:
                value = kin_value(match["kin"])
                yield FoundClaim(Attribute.KIN, value, who, match.start(), match.end(), whom, 0.8)
    for match in _OWNED.finditer(masked.text):
        who = named_by(masked, match)
        if who is not None:
            value = Value(match["thing"])
            yield FoundClaim(
                Attribute.POSSESSION, value, who, match.start(), match.end(), None, 0.7
            )


def kin_value(word: str) -> Value:
    """Return a word of kin and the tie it names, whatever the sex: a sister is a sibling."""
    lowered = word.lower()
    listed = families_in("facts", "kin")
    return Value(lowered, frozenset(tie for tie, words in listed.items() if lowered in words))


def opposite(value: Value, word: str = "") -> Value:
    """Return the tie seen from the other side: whose sister she is, he is her sibling."""
    listed = families_in("facts", "kin_opposite")
    other = frozenset(tie for name in value.families for tie in listed.get(name, frozenset[str]()))
    return Value(word or "/".join(sorted(other)), other)


@cache
def _kin_trigger() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{kin_words()})\b")


@cache
def _kin_patterns() -> tuple[re.Pattern[str], ...]:
    kin = rf"{adjective()}{{0,2}}(?P<kin>{kin_words()})\b(?!-)"
    whom = rf"(?P<whom>{ENTITY})['’]s?"
    their = r"\b(?P<their>[Hh]is|[Hh]er|[Mm]y)\b"
    who = rf"(?P<who>{ENTITY})(?!['’])"
    # A comma and "and" after it make it a list of people, not one person told twice.
    closed = r"(?=[.;:!?)]|,(?! and| or)|$| who\b)"
    shapes = (
        rf"{whom} {kin} {who}",
        rf"{whom} {kin}, {who}(?=[.;:!?]|,(?! and| or)|$)",
        rf"{who}, {whom} {kin}{closed}",
        rf"{who},? (?:who )?(?:was|is) {whom} {kin}{closed}",
        rf"{their} {kin} {who}",
        rf"{their} {kin}, {who}(?=[.;:!?]|,(?! and| or)|$)",
        rf"{who}, {their} {kin}{closed}",
        rf"{who} (?:was|is) {their} {kin}{closed}",
    )
    return tuple(re.compile(shape) for shape in shapes)

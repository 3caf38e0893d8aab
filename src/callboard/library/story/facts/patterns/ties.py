"""Ties: who is whose kin, and what somebody owns or carries."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, Found, Value
from callboard.library.story.facts.masks import ENTITY, Masked
from callboard.library.story.facts.patterns.grammar import adjective, kin_words, named_by
from callboard.library.story.lexicon.groups import families_in

_OWNED: Final = re.compile(
    rf"(?P<who>{ENTITY}) (?:owned|owns|possessed|carried|carries|wore|wears) "
    r"(?P<thing>(?:an?|the|his|her) [a-z][a-z -]{2,30}?)"
    r"(?=[.,;:!?]|$| (?:and|with|in|on|at|over|under|that|which|to|of|from|for|across|around)\b)"
)


def find_ties(masked: Masked) -> Iterator[Found]:
    """Yield the ties of kin and the belongings a sentence tells of."""
    for pattern in _kin_patterns() if _kin_trigger().search(masked.text) else ():
        for match in pattern.finditer(masked.text):
            who = named_by(masked, match)
            whom = named_by(masked, match, "whom", "their")
            if who is not None and whom is not None and who != whom:
                value = kin_value(match["kin"])
                yield Found(Attribute.KIN, value, who, match.start(), match.end(), whom, 0.8)
    for match in _OWNED.finditer(masked.text):
        who = named_by(masked, match)
        if who is not None:
            value = Value(match["thing"])
            yield Found(Attribute.POSSESSION, value, who, match.start(), match.end(), None, 0.7)


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

"""Marks of an answer: what in some words shows that they speak of the book, and fill a field."""

import re
from enum import StrEnum
from typing import Final

from callboard.packs.writers_factory.bible.checks.lexicon import lexicon, stems_of


class Wants(StrEnum):
    """What kind of words fill a field."""

    NAME = "name"
    CHOICE = "choice"
    # A word or two will do.
    TRAIT = "trait"
    # A sentence that holds for everybody.
    CLAIM = "claim"
    # Something that happens, or how somebody is.
    EVENT = "event"


WANTED: Final = {
    "name": Wants.NAME,
    "midpoint_type": Wants.CHOICE,
    "fatal_flaw": Wants.TRAIT,
    "central_theme": Wants.TRAIT,
    "the_lie": Wants.CLAIM,
    "theme_statement": Wants.CLAIM,
    "fundamental_rules": Wants.CLAIM,
}
_FEWEST_WORDS: Final = {Wants.CLAIM: 2, Wants.EVENT: 2}
_SOMEBODY: Final = re.compile(
    r"\b(?:he|she|they|him|her|his|hers|their|them|himself|herself|themselves|someone|somebody"
    r"|everyone|everybody|nobody|noone|no one|people)\b",
    re.IGNORECASE,
)
PROPER: Final = re.compile(r"(?<=[\w,;:] )[A-ZÀ-ÖØ-Þ][a-zà-ÿ]")
_CLAIMS: Final = re.compile(
    r"\b(?:is|isn't|are|aren't|was|were|has|have|must|mustn't|can|can't|cannot|will|won't|may"
    r"|should|always|never|only|every|costs?|if|does|doesn't|do not|don't|no)\b"
    r"|^\W*(?:that )?(?:\w+ ){1,2}\w{3,}s\b",
    re.IGNORECASE,
)
_ADDRESSED: Final = re.compile(
    r"\W*+(?:you're|you are|whatever you|none of your|\w+'s ready|wrong\b)", re.IGNORECASE
)
# What people are called by what they do: one word of it will do.
_TRAIT: Final = re.compile(
    r"\W*+(?:(?:too|overly|never|always|can't|cannot|won't|unable|inability|lack|fear|need)\b"
    r"|\w{3,}(?:ness|ity|ance|ence|ship|ism|ice|acy|ency|ancy|ingly|thinking|ation|ssion|ism)\b)",
    re.IGNORECASE,
)
_DESCRIBES: Final = re.compile(
    r"\W*+(?:(?:a|an|the|two|three|four|same|another|every|no one|each)\s+(?!(?:hard|tough|good|bad"
    r"|great|difficult|tricky|easy|big|small|other|same|last|next|first)\s+(?:one|question)\b)\w"
    r"|\w{3,}(?:s|ing|ed)\s+(?:\w+\W+){2,}\w|\w+[.,:] (?:a|an|the|and|but)\b)",
    re.IGNORECASE,
)
_BELIEVED: Final = re.compile(
    r"\bi(?:'m| am)? (?:must|can(?:'t|not)|have to|don't deserve|deserve|am not|not|only|never|let"
    r"|need to be|was born)\b|^if i\b|^we (?:owe|are|can|all|become|cannot|can't)\b",
    re.IGNORECASE,
)
_SHOUTED: Final = re.compile(r"\w+(?: \w+)?!+")


def is_plain(value: str, wants: Wants, hero: str, *, is_announced: bool) -> bool:
    """Say whether words bear the marks of an answer, beyond not being anything else."""
    if wants is Wants.NAME:
        return any(each[:1].isupper() for each in value.split())
    if wants is Wants.CHOICE:
        return re.search(r"victor|win|won|triumph|defeat|loss|lose|lost|fail", value) is not None
    count = len(re.findall(r"\w+", value))
    if _SHOUTED.fullmatch(value) or count < _FEWEST_WORDS.get(wants, 1):
        return False
    if is_told(value, hero) or is_announced:
        return True
    if wants is Wants.CLAIM:
        return _CLAIMS.search(value) is not None and not _ADDRESSED.match(value)
    if wants is Wants.TRAIT and (stems_of(value) & lexicon().inner or _TRAIT.match(value)):
        return True
    return _DESCRIBES.match(value) is not None and count > 1


def is_told(text: str, hero: str) -> bool:
    """Say whether words speak of somebody: by a pronoun, by name, or by the hero's."""
    names = re.findall(r"\w{3,}", hero)
    is_named = any(re.search(rf"\b{re.escape(each)}\b", text, re.IGNORECASE) for each in names)
    return is_named or bool(_SOMEBODY.search(text) or PROPER.search(text))


def is_belief(text: str, wants: Wants) -> bool:
    """Say whether somebody of the book may say it of themselves."""
    return wants is Wants.CLAIM and _BELIEVED.search(text) is not None

"""Households: how many brothers, daughters or fingers somebody has, and who is an only child."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, KinOf, Value
from callboard.library.story.facts.grammar import ENTITY, Masked
from callboard.library.story.facts.holders import Holder, is_told, subject_of
from callboard.library.story.facts.values import number_of

_MOST: Final = 20
# What people have a fixed number of; several words may count the same.
_COUNTED: Final = {
    "sisters": "sisters?",
    "brothers": "brothers?",
    "sons": "sons?",
    "daughters": "daughters?|girls",
    "boys": "boys",
    "children": "child|children|babies",
    "fingers": "fingers?",
    "husbands": "husbands?",
    "siblings": "siblings?",
    "wives": "wife|wives",
    "legs": "legs?",
    "eyes": "eyes?",
    "arms": "arms?",
}
_NUMBER: Final = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|\d{1,2}|only one)"
)
_BODY: Final = {"legs": 2, "eyes": 2, "arms": 2, "fingers": 10}
_ADJECTIVES: Final = (
    r"(?: (?:little|small|good|own|big|young|grown|unmarried|married|fine|whole|sound|dear|poor))*"
)
_NONE: Final = (
    (
        "siblings",
        re.compile(r"\b(?:an|his only|her only) only (?:child|son|daughter)\b|\ban only child\b"),
    ),
    (
        "siblings",
        re.compile(
            r"\b(?:had|has|have|with|without) (?:neither |no |any )?(?:brothers?|sisters?) "
            r"(?:nor|or|and no) (?:brothers?|sisters?)\b|\b(?:had|has|have|['’]d) no siblings\b"
        ),
    ),
    (
        "sisters",
        re.compile(r"\b(?:had|has|have|['’]ve|['’]d) (?:no|never had an?) sisters?\b(?!-)"),
    ),
    (
        "brothers",
        re.compile(r"\b(?:had|has|have|['’]ve|['’]d) (?:no|never had an?) brothers?\b(?!-)"),
    ),
    ("boys", re.compile(r"\b(?:had|has|have|['’]ve|['’]d) no (?:boys|sons)\b")),
    ("daughters", re.compile(r"\b(?:had|has|have|['’]ve|['’]d) no (?:girls|daughters)\b")),
    (
        "children",
        re.compile(
            r"\b(?:had|has|have|['’]ve|['’]d)(?: had)? (?:no|never had an?|never had any"
            r"|never had|never borne an?)"
            r" (?:child|children)\b|\b(?:was|is) childless\b"
        ),
    ),
)
_TRIGGER: Final = re.compile(
    r"\b(?:only|no|never|neither|without|childless|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|both|\d{1,2})\b"
)
_KIN: Final = re.compile(
    r"sister|brother|son|daughter|girls|boys|child|finger|husband|sibling|wife|wives|legs?\b|arms?\b"
    r"|eyes?\b|babies"
)
_OWN_WORDS: Final = frozenset({"other", "felt", "part", "look", "looked"})
_PARTS: Final = re.compile(r"^ (?:of|and|or|left|on the|at a time|more)\b|^-")


def find_households(masked: Masked) -> Iterator[FoundClaim]:
    """Yield how many of something a sentence says somebody has."""
    text = masked.text
    if not _KIN.search(text) or not _TRIGGER.search(text):
        return
    for topic, pattern in _NONE:
        for match in pattern.finditer(text):
            yield from _claim(masked, match, subject_of(masked, match.start()), (topic, 0, 0))
    for topic, pattern in _patterns().items():
        for match in pattern.finditer(text):
            told = match["number"].lower()
            count = 2 if told == "both" else 1 if "only" in told else number_of(told)
            if count is None or count > _MOST or _PARTS.match(text[match.end() :]):
                continue
            holder = _holder(masked, match)
            if topic in _BODY and (count > _BODY[topic] or told in ("one", "both")):
                continue
            is_part = topic in _BODY and count != _BODY[topic] and match["sole"] is None
            if not is_part:
                yield from _claim(masked, match, holder, (topic, count, count))


def _holder(masked: Masked, match: re.Match[str]) -> Holder | None:
    """Return who has them: by "his two sisters", by "had three sisters" or by "father of two"."""
    if match["whose"]:
        return Holder(match["whose"].lower(), match.start("whose"))
    if match["who"]:
        return Holder(masked.number_at(match["who"]), match.start("who"))
    return subject_of(masked, match.start())


def _claim(
    masked: Masked, match: re.Match[str], holder: Holder | None, told: tuple[str, int, int]
) -> Iterator[FoundClaim]:
    topic, low, high = told
    is_one_of = holder is not None and isinstance(holder.who, KinOf)
    if holder is None or is_one_of:
        return
    if not is_told(masked.text, match.start(), match.end(), allows=_OWN_WORDS, says_no=low == 0):
        return
    value = Value(f"{low} {topic}" if low else f"no {topic}", low=low, high=high)
    yield FoundClaim(
        Attribute.COUNT,
        value,
        holder.who,
        min(holder.at, match.start()),
        match.end(),
        topic=topic,
        who_at=holder.at,
        is_vouched=True,
    )


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    number = rf"(?P<number>{_NUMBER}|only)"
    return {
        topic: re.compile(
            # his two little sisters, Mr. Bingley's only sister
            rf"(?:(?:(?P<who>{ENTITY})['’]s?|\b(?P<whose>[Hh]is|[Hh]er|[Mm]y))"
            # had but the one sister; the father of three sons
            rf"|\b(?P<sole>(?:had|has|have|['’]ve|['’]d)(?: had| but| only| got| just)*(?: the)?)"
            rf"|\b(?:father|mother) of) {number}{_ADJECTIVES} (?:{words})\b"
        )
        for topic, words in _COUNTED.items()
    }

"""Households: how many brothers, daughters or fingers somebody has, and who is an only child."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from callboard.library.story.facts.claims import Attribute, FoundClaim, Value
from callboard.library.story.facts.grammar import ENTITY, OWNER, SUBJECT, Masked, named_by
from callboard.library.story.facts.values import number_of

_MOST: Final = 20
# What people have a fixed number of; several words may count the same.
_COUNTED: Final = {
    "sisters": "sisters?",
    "brothers": "brothers?",
    "sons": "sons?",
    "daughters": "daughters?|girls",
    "children": "child|children",
    "fingers": "fingers?",
    "husbands": "husbands?",
    "siblings": "siblings?",
}
_NUMBER: Final = r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"
_NONE: Final = (
    (
        "siblings",
        re.compile(
            rf"{SUBJECT},? (?:was|is|am|had (?:always )?been|who was) an only (?:child|son"
            rf"|daughter)"
        ),
    ),
    (
        "siblings",
        re.compile(rf"{SUBJECT} had (?:neither brothers? nor sisters?|no brothers? or sisters?)\b"),
    ),
    ("siblings", re.compile(rf"{SUBJECT} (?:had|has|have) no siblings\b")),
    ("sisters", re.compile(rf"{SUBJECT} (?:had|has|have|’ve|'ve) (?:no|never had an?) sisters?\b")),
    (
        "brothers",
        re.compile(rf"{SUBJECT} (?:had|has|have|’ve|'ve) (?:no|never had an?) brothers?\b"),
    ),
    (
        "children",
        re.compile(
            rf"{SUBJECT} (?:had|has|have) (?:no|never had|never had any) (?:children|child)\b"
        ),
    ),
    ("children", re.compile(rf"{SUBJECT} (?:was|is) childless\b")),
)
_TRIGGER: Final = re.compile(
    r"\b(?:only|no|never|neither|childless|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|\d{1,2})\b"
)
_KIN: Final = re.compile(r"sister|brother|son|daughter|girls|child|finger|husband|sibling")


def find_households(masked: Masked) -> Iterator[FoundClaim]:
    """Yield how many of something a sentence says somebody has."""
    text = masked.text
    if not _KIN.search(text) or not _TRIGGER.search(text):
        return
    for topic, pattern in _NONE:
        for match in pattern.finditer(text):
            yield from _claim(masked, match, topic, 0)
    for topic, patterns in _patterns().items():
        for pattern in patterns:
            for match in pattern.finditer(text):
                told = match.groupdict().get("number")
                count = 1 if told is None or told == "only" else number_of(told)
                if count is not None and count <= _MOST:
                    yield from _claim(masked, match, topic, count)


def _claim(masked: Masked, match: re.Match[str], topic: str, count: int) -> Iterator[FoundClaim]:
    who = named_by(masked, match)
    if who is not None:
        value = Value(f"{count} {topic}" if count else f"no {topic}", low=count, high=count)
        yield FoundClaim(
            Attribute.COUNT,
            value,
            who,
            match.start(),
            match.end(),
            topic=topic,
            says_no=count == 0,
        )


@cache
def _patterns() -> dict[str, tuple[re.Pattern[str], ...]]:
    return {
        topic: (
            # his two sisters, Mr. Bingley's only sister
            re.compile(
                rf"{OWNER} (?P<number>{_NUMBER}|only) (?:{words})\b(?! (?:of|and|or)\b)(?!-)"
            ),
            # Kael had three sisters
            re.compile(
                rf"{SUBJECT} (?:had|has|have) (?P<number>{_NUMBER}) (?:{words})\b(?! (?:on|left)\b)"
            ),
            # the father of three sons
            re.compile(
                rf"(?P<who>{ENTITY})(?:,| was| is)? (?:the |a )?(?:father|mother) of "
                rf"(?P<number>{_NUMBER}) (?:{words})\b"
            ),
        )
        for topic, words in _COUNTED.items()
    }

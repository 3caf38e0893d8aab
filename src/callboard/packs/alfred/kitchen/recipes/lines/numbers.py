"""Numbers as recipes write them: fractions, ranges, words, decimal commas.

A number that can be read two ways is said to be so and is not read at all.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import number_words

MOST: Final = 100_000.0
_MOST_PARTS: Final = 4

_FRACTION: Final = r"\d{1,4} ?/ ?\d{1,4}(?![\d/])"
_PLAIN: Final = r"\d{1,6}(?:[.,]\d{1,4})?(?![\d])|\.\d{1,4}"
_MIXED: Final = re.compile(rf"(\d{{1,4}})(?: ?[-–] ?| and | & | )({_FRACTION})")
_SIMPLE: Final = re.compile(rf"{_FRACTION}|{_PLAIN}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_PART_OF: Final = re.compile(
    r"(?:(?P<whole>an?|one|half|three)[ -])?(?P<part>quarter|half|third|quarters)s?"
    r"(?: of)?(?: an?\b| the\b)?(?: of)?\s+",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(r"\s*(?:-|~|to\b|or\b|bis\b|a\b(?=\s*\d))\s*", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}[,.]\d{3}")
_PARTS: Final = {"quarter": 0.25, "quarters": 0.25, "half": 0.5, "third": 1 / 3}


@dataclass(frozen=True, slots=True)
class Number:
    """A number or a range at the start of a text, and how far it reaches."""

    low: float | None
    high: float | None
    length: int
    is_ambiguous: bool = False
    # Two numbers one apart with a slash: `2/3 carrots` may be two thirds, or two to three.
    is_slashed: bool = False
    # Nobody writes five sixths of a thing.
    is_odd: bool = False


def read_number(text: str) -> Number | None:
    """Return the number or range a text starts with, or None."""
    first = _one(text)
    if first is None:
        return None
    if first.low is None:
        return first
    gap = _BETWEEN.match(text, first.length)
    if gap is None or not _is_worth_a_range(text[gap.end() :]):
        return first
    second = _one(text[gap.end() :])
    if second is None or second.low is None or second.low <= first.low:
        return first
    return Number(first.low, second.low, gap.end() + second.length)


def _is_worth_a_range(rest: str) -> bool:
    """Say whether what follows the gap is a number and no article: `1 or a bit more` is none."""
    word = _WORD.match(rest)
    return word is None or word[0].casefold() not in ("a", "an", "half", "un", "une", "una")


def _one(text: str) -> Number | None:
    mixed = _MIXED.match(text)
    if mixed is not None:
        part = _fraction(mixed[2])
        if part is not None and part < 1:
            return _number(int(mixed[1]) + part, mixed.end())
    simple = _SIMPLE.match(text)
    if simple is not None:
        return _digits(simple[0], simple.end())
    return _part(text) or _spelled(text)


def _digits(written: str, length: int) -> Number:
    if "/" in written:
        return Number(
            _fraction(written), None, length, is_slashed=_slashed(written), is_odd=_is_odd(written)
        )
    if _THOUSANDS.fullmatch(written):
        return Number(None, None, length, is_ambiguous=True)
    return _number(float(written.replace(",", ".")), length)


def _number(value: float, length: int) -> Number:
    if not 0 < value <= MOST:
        return Number(None, None, length, is_ambiguous=True)
    return Number(value, None, length)


def _fraction(written: str) -> float | None:
    above, _, below = written.replace(" ", "").partition("/")
    if int(below) == 0 or int(above) == 0:
        return None
    return int(above) / int(below)


def _slashed(written: str) -> bool:
    above, _, below = written.replace(" ", "").partition("/")
    return int(below) == int(above) + 1 and int(above) > 1


def _is_odd(written: str) -> bool:
    return _slashed(written) and int(written.replace(" ", "").partition("/")[2]) > _MOST_PARTS


def _part(text: str) -> Number | None:
    """Return `half a`, `a quarter of a`, `three quarters of`."""
    found = _PART_OF.match(text)
    if found is None:
        return None
    times = 3.0 if (found["whole"] or "").casefold() == "three" else 1.0
    if (found["whole"] or "").casefold() == "half":
        times = 0.5
    return Number(times * _PARTS[found["part"].casefold()], None, found.end())


def _spelled(text: str) -> Number | None:
    found = _WORD.match(text)
    if found is None or found[0].casefold() not in number_words():
        return None
    value = number_words()[found[0].casefold()]
    rest = text[found.end() :]
    again = re.match(r"\s+(couple|dozen)(?:\s+of)?\b", rest, re.IGNORECASE)
    if again is not None and again[1].casefold() == "couple":
        return Number(2.0, None, found.end() + again.end())
    # `A1 sauce`, `a-la-carte`: a word is a number only when a blank follows it.
    if not rest.startswith(" "):
        return None
    return Number(value, None, found.end())

"""Lexicon: units, words and numbers of ingredient lines, from the files beside this module."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml

PIECE: Final = "piece"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit in its one spelling, and where in a line it may stand."""

    name: str
    is_container: bool = False
    is_trailing: bool = False
    is_spoken: bool = False


@cache
def words(group: str) -> frozenset[str]:
    """Return the words of a group."""
    return frozenset(str(word).casefold() for word in _book("words.yaml")[group])


@cache
def phrases(group: str) -> tuple[str, ...]:
    """Return the phrases of a group, longest first."""
    listed = [str(phrase) for phrase in _book("words.yaml")[group]]
    return tuple(sorted(listed, key=lambda phrase: (-len(phrase), phrase)))


@cache
def number_words() -> Mapping[str, float]:
    """Return the numbers that are written as words."""
    return {str(word): float(value) for word, value in _book("words.yaml")["numbers"].items()}


@cache
def unit_pattern() -> re.Pattern[str]:
    """Return an expression that matches any spelling of a unit as a whole word."""
    spelled = sorted((*_exact(), *_spellings()), key=lambda spelling: (-len(spelling), spelling))
    one = "|".join(re.escape(spelling).replace(r"\ ", r"[. ]+") for spelling in spelled)
    return re.compile(rf"(?:{one})(?![\w'’%°])\.?", re.IGNORECASE)


def find_unit(text: str) -> Unit | None:
    """Return the unit a text spells, or None if it spells none."""
    stripped = text.strip().rstrip(".")
    exact = _exact().get(stripped)
    if exact is not None:
        return exact
    if len(stripped) == 1 and stripped.casefold() in {key.casefold() for key in _exact()}:
        return None
    return _spellings().get(" ".join(re.split(r"[. ]+", stripped.casefold())))


@cache
def _spellings() -> Mapping[str, Unit]:
    known: dict[str, Unit] = {}
    for name, entry in _book("units.yaml").items():
        unit = _unit(name, entry)
        for spelling in (name, *entry.get("spellings", ())):
            known[str(spelling).casefold()] = unit
    return known


@cache
def _exact() -> Mapping[str, Unit]:
    return {
        str(spelling): _unit(name, entry)
        for name, entry in _book("units.yaml").items()
        for spelling in entry.get("exact", ())
    }


def _unit(name: str, entry: Mapping[str, Any]) -> Unit:
    return Unit(
        name,
        is_container=bool(entry.get("container")),
        is_trailing=bool(entry.get("trailing")),
        is_spoken=bool(entry.get("spoken")),
    )


def _book(file: str) -> Mapping[str, Any]:
    return bundled_yaml("callboard.packs.alfred.kitchen.recipes.lines", file)


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


_APART: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:and|und|et|y|e|&|\+)\s+", re.IGNORECASE)
_BESIDE: Final = re.compile(
    r"\b(?:freshly ground|fresh ground|ground|lots of|plenty of|a little|some|to taste|"
    r"sea|flaky)\s*",
    re.IGNORECASE,
)


def seasonings(text: str) -> list[str]:
    """Return a line that lists seasonings only as a line for each: `salt, pepper`."""
    plain = text.strip(" .*-")
    if plain.casefold() in ("s&p", "s & p", "s+p"):
        return ["salt", "pepper"]
    parts = [part.strip() for part in _APART.split(plain) if part.strip()]
    bare = [_BESIDE.sub("", part).strip().casefold() for part in parts]
    is_all = len(parts) > 1 and all(part in words("seasonings") for part in bare)
    return parts if is_all else [text]

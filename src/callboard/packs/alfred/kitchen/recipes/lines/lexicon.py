"""The units and words lines are read by, from the files beside this module."""

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

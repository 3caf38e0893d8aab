"""Travel: world rules that say how long a way takes."""

import re
from dataclasses import dataclass
from typing import Final

_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS: Final = {
    **{word: float(number) for number, word in enumerate(_WORDS, start=1)},
    "a": 1.0,
    "an": 1.0,
    "half a": 0.5,
    "twelve": 12.0,
    "twenty": 20.0,
}
_UNITS: Final = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "night": 12.0, "week": 168.0}
_DURATION: Final = re.compile(
    rf"\b(?P<count>\d+(?:\.\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    rf"[ -](?:full |whole |long )?(?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
_PLACE: Final = r"(?:the )?[A-Z][\w’'-]*(?: (?:of |the )?[A-Z][\w’'-]*)*"
_WAY: Final = re.compile(
    rf"\b(?:from (?P<a>{_PLACE}) to (?P<b>{_PLACE})|between (?P<c>{_PLACE}) and (?P<d>{_PLACE})"
    rf"|(?:to|reach|reaches) (?P<e>{_PLACE}) from (?P<f>{_PLACE}))"
)


@dataclass(frozen=True, slots=True)
class TravelRule:
    """Nobody gets from one place to the other in less than so many hours."""

    places: frozenset[str]
    hours: float
    text: str

    def covers(self, first: str, second: str) -> bool:
        """Say whether it is about the way between two places."""
        return self.places == frozenset((place_key(first), place_key(second)))


def read_travel_rule(text: str) -> TravelRule | None:
    """Return what a world rule says about a way; None if it is about something else."""
    way, duration = _WAY.search(text), _DURATION.search(text)
    if way is None or duration is None:
        return None
    ends = [name for name in way.groups() if name]
    count = duration["count"].lower()
    number = _NUMBERS[count] if count in _NUMBERS else float(count)
    places = frozenset(place_key(name) for name in ends)
    if len(places) != 2:
        return None
    return TravelRule(places, number * _UNITS[duration["unit"].lower()], text)


def place_key(name: str) -> str:
    """Return the form in which places are compared."""
    return " ".join(name.casefold().split()).removeprefix("the ").strip(" .,;")

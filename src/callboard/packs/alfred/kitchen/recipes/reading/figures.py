"""Servings, times, days and tags as people and machines write them."""

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import Final, cast

from callboard.packs.alfred.kitchen.recipes.lines.doubts import plain_line
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import Number, read_number
from callboard.packs.alfred.kitchen.recipes.reading.limits import LONGEST_NAME, MOST_TAGS
from callboard.packs.alfred.kitchen.recipes.text import one_line

LONGEST_MINUTES: Final = 60 * 24 * 60
MOST_SERVINGS: Final = 1_000.0
_ISO: Final = re.compile(
    r"P(?:(\d{1,3})W)?(?:(\d{1,3})D)?"
    r"(?:T(?:(\d{1,4}(?:\.\d+)?)H)?(?:(\d{1,5}(?:\.\d+)?)M)?(?:(\d{1,6})(?:\.\d+)?S)?)?",
    re.IGNORECASE,
)
_PART: Final = re.compile(
    r"(?P<number>\d[\d./, ]*+(?:\s*+(?:-|~|to|or)\s*+\d[\d./]*+)?|an?|half an?)\s*+"
    r"(?P<unit>d(?:ays?)?|h(?:(?:ou)?rs?|ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|weeks?|w"
    r"|stunden?|std|tage?)(?![^\W\d_])\.?",
    re.IGNORECASE,
)
_MINUTES: Final = {"w": 7 * 24 * 60.0, "d": 24 * 60.0, "t": 24 * 60.0, "h": 60.0, "m": 1.0}
_ABOUT: Final = re.compile(
    r"^\s*(?:about|around|approx\.?|~|circa|ca\.?|up to|environ|unas|unos|etwa)\s*", re.IGNORECASE
)
_SERVES: Final = (
    r"serves|feeds|servings?|serve|portions?|portionen|enough for|for|für|pour|para|per|"
    r"personen|personnes|porciones|porzioni|dosi per"
)
_MAKES: Final = r"makes|yields?|ergibt|rinde|donne"
_SAID: Final = re.compile(rf"(?:(?P<made>{_MAKES})|{_SERVES})\b\s*:?\s*", re.IGNORECASE)
_BEHIND: Final = re.compile(r"\((?P<inner>[^()]{1,60})\)")


@dataclass(frozen=True, slots=True)
class Servings:
    """For how many a recipe is, or what it makes if that is not counted in portions."""

    low: float
    high: float | None = None
    # What is counted, if not portions: `cookies`; empty if a number is all that is said.
    of: str | None = None

    @property
    def is_portions(self) -> bool:
        """Whether people are counted, and not what comes out of the oven."""
        return self.of is None

    @property
    def words(self) -> str:
        """How much it is, as somebody would say it."""
        high = "" if self.high is None else f"-{self.high:g}"
        return f"{self.low:g}{high} {'servings' if self.of is None else self.of}".strip()


def read_servings(text: str, *, is_made: bool = False) -> Servings | None:
    """Return what a text says about servings, or None if it says nothing.

    Whoever makes twelve (`is_made`, or the text says so) does not say how many eat them.
    """
    plain = _ABOUT.sub("", plain_line(text).removesuffix("+").strip())
    said = _SAID.match(plain)
    plain = _ABOUT.sub("", plain if said is None else plain[said.end() :]).strip()
    plain = _in_figures(plain.strip("() "))
    number = read_number(plain)
    if number is None or number.low is None or not 0 < number.low <= MOST_SERVINGS:
        return None
    high = number.high if number.high is not None and number.high <= MOST_SERVINGS else None
    counted = _counted_in(plain[number.length :].strip(" +.,;:-"))
    if counted == "":
        counted = "" if is_made or (said is not None and said["made"]) else None
    return Servings(number.low, high, counted)


_IN_WORDS: Final = re.compile(
    r"^(?P<word>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.I
)
_DOZEN: Final = re.compile(r"^(?P<count>\d{1,2}|an?) dozen\b", re.I)
_COUNTED: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
                   "eleven", "twelve")  # fmt: skip


def _in_figures(text: str) -> str:
    """Return a text that begins with a number in words, with it in figures."""
    found = _IN_WORDS.match(text)
    if found is not None:
        text = f"{_COUNTED.index(found['word'].casefold()) + 1}{text[found.end() :]}"
    dozen = _DOZEN.match(text)
    if dozen is None:
        return text
    count = int(dozen["count"]) if dozen["count"].isdigit() else 1
    return f"{count * 12}{text[dozen.end() :]}"


def read_made(text: str, *, is_made: bool = False) -> tuple[Servings | None, Servings | None]:
    """Return for how many a recipe is and what it makes: `makes 24 cookies (serves 6)`."""
    inner = _BEHIND.search(text)
    found = [read_servings(text, is_made=is_made)]
    if inner is not None and _SAID.match(inner["inner"].strip()):
        found.append(read_servings(inner["inner"].strip()))
    told = [each for each in found if each is not None]
    return (
        next((each for each in told if each.is_portions), None),
        next((each for each in told if not each.is_portions), None),
    )


_WORDS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "eight": 8,
    "ten": 10,
    "twelve": 12,
}
_IN_TITLE: Final = re.compile(
    r"\(for (?P<eaters>\d{1,2}|one|two|three|four|five|six)\b[^()]{0,30}\)$|"
    r"\bfor (?P<people>\d{1,3}|two|three|four|five|six|eight|ten|twelve)$"
    r"|\s(?:[-–]|--)\s(?:about )?(?P<after>\d[^-–()]{0,30})(?:\([^()]{0,20}\))?$"
    r"|\((?:about )?(?P<inner>\d[^()]{0,40})\)$",
    re.I,
)


_SERVING_LINE: Final = re.compile(
    r"^(?:serves|feeds|makes|yields|für \d|(?:dosi )?per \d|pour (?:environ )?\d|para (?:unas )?\d|"
    r"for \d|for (?:one|two|three|four|five|six|eight|ten)\b|\(about \d+\)$)"
    r"|^\d[\d\s–-]*(?:servings?|portions?|people|personen)\b",
    re.I,
)
_LONGEST_SERVING: Final = 60


def says_servings(line: str) -> bool:
    """Say whether a line says nothing but for how many it is."""
    is_told = len(line) <= _LONGEST_SERVING and _SERVING_LINE.match(line) is not None
    return is_told and any(read_made(line))


# Said in a sentence about something else.
_PASSING: Final = re.compile(r"\b(?:serves|feeds) \d{1,3}\b", re.I)


def read_passing(text: str) -> tuple[Servings | None, Servings | None]:
    """Return what a text says in passing of how many it feeds, if it says one thing only."""
    told = set(_PASSING.findall(text))
    return read_made(told.pop()) if len(told) == 1 else (None, None)


def read_title(title: str) -> tuple[Servings | None, Servings | None]:
    """Return what a title says besides the name: `Shakshuka for two`, `Energy balls (16)`."""
    found = _IN_TITLE.search(title.strip())
    if found is None:
        return None, None
    if found["eaters"]:
        return read_made(f"for {found['eaters']}")
    if found["people"]:
        count = _WORDS.get(found["people"].casefold(), found["people"])
        return read_made(f"for {count}")
    return read_made(found["inner"] or found["after"], is_made=True)


def read_minutes(text: str) -> int | None:
    """Return how long a text says something takes, or None if it does not say.

    Of a range it is the longer: who plans an evening needs the end of it.
    """
    plain = plain_line(text)
    iso = _ISO.fullmatch(plain.strip())
    if iso is not None and plain.strip().upper() not in ("P", "PT"):
        return _iso_minutes(iso)
    first = re.split(r"\s+\+\s+|\s+or\s+(?=\d+ ?h)|,\s*\(|\(", plain)[0]
    total, found = 0.0, False
    for part in _PART.finditer(first):
        minutes = _part_minutes(part["number"].strip(), part["unit"].casefold())
        if minutes is not None:
            total, found = total + minutes, True
    return _within(total) if found else None


def iso_duration(minutes: int) -> str:
    """Return minutes as ISO 8601 writes them."""
    hours, left = divmod(minutes, 60)
    if not hours:
        return f"PT{left}M"
    return f"PT{hours}H{left}M" if left else f"PT{hours}H"


def _iso_minutes(iso: re.Match[str]) -> int | None:
    sizes = (7 * 24 * 60.0, 24 * 60.0, 60.0, 1.0, 1 / 60)
    return _within(
        sum(float(part or 0) * size for part, size in zip(iso.groups(), sizes, strict=True))
    )


def _part_minutes(number: str, unit: str) -> float | None:
    if number.casefold().startswith(("a", "half")):
        value = 0.5 if number.casefold().startswith("half") else 1.0
    else:
        read = Number(0.0, None, 1) if number == "0" else read_number(number)
        if read is None or read.low is None:
            return None
        value = read.high or read.low
    if unit.startswith(("sec", "s")) and not unit.startswith(("std", "stunde")):
        return value / 60
    return value * _MINUTES.get("h" if unit.startswith("s") else unit[0], 1.0)


def _within(minutes: float) -> int | None:
    if not math.isfinite(minutes) or not 0 <= minutes <= LONGEST_MINUTES:
        return None
    return math.ceil(minutes - 1e-9)


def _counted_in(rest: str) -> str | None:
    """Return what is counted: None for portions, nothing if the text does not say."""
    told = re.split(r"[(·|;,/]|\s[-–]\s", rest, maxsplit=1)[0].strip(" .").casefold()
    if _PORTIONS.search(told) or told.startswith(("as a ", "as an ")):
        return None
    return told if len(told) <= _LONGEST_WORD else ""


_LONGEST_WORD: Final = 40
_PORTIONS: Final = re.compile(
    r"\b(?:servings?|portions?|people|persons?|pers|guests?|adults?|eaters?|kids|children|bowls?|"
    r"plates?|portionen|personen|personnes?|personas?|persone|porciones|porzioni)\b"
)


def tags_of(value: object) -> tuple[str, ...]:
    """Return tags given as a list or as one text."""
    if isinstance(value, str):
        listed: list[object] = list(value.split(",") if "," in value else value.split())
    else:
        listed = cast("list[object]", value) if isinstance(value, list) else []
    cleaned = [one_line(str(tag))[:LONGEST_NAME] for tag in listed if isinstance(tag, (str, int))]
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))[:MOST_TAGS]


def day_of(value: object) -> str | None:
    """Return a day as ISO 8601 writes it, or None if a value is none."""
    if isinstance(value, date):
        return value.isoformat()[:10]
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        return None


def web_address(value: str | None) -> str | None:
    """Return an address of the web; any other kind of address is left out."""
    if value is None or re.fullmatch(r"https?://[^\s<>\"']{1,1000}", value) is None:
        return None
    return value

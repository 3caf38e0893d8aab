"""Words: things with their amounts, numbers, kinds, and the forms of requests."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import (
    canonical_unit,
    is_known_unit,
    read_quantity,
    spoken_amount,
)
from callboard.packs.alfred.kitchen.food.foods import OTHER, food_facts
from callboard.packs.alfred.kitchen.food.naming import objection
from callboard.packs.alfred.kitchen.router.dates import DAY, PERIOD, RANGE


@cache
def words(group: str) -> tuple[str, ...]:
    """Return a list of words, the longest first."""
    listed: list[str] = _book()[group]
    return tuple(sorted(listed, key=lambda word: (-len(word), word)))


@cache
def kinds(group: str) -> Mapping[str, str]:
    """Return what each word of a group stands for."""
    return {word: kind for kind, listed in _book()[group].items() for word in listed}


@cache
def numbers() -> Mapping[str, float]:
    """Return the numbers that are written as words."""
    return {word: float(value) for word, value in _book()["numbers"].items()}


def read_count(text: str) -> float | None:
    """Return the number a word says; an article says none."""
    if text.isdigit():
        return float(text) or None
    return None if text.casefold() in ("a", "an") else numbers().get(text.casefold())


@cache
def any_of(*groups: str) -> str:
    """Return an expression that matches any word of some groups."""
    listed: list[str] = []
    for group in groups:
        content = _book()[group]
        listed += content if isinstance(content, list) else list(kinds(group))
    return alternatives(listed)


def alternatives(listed: Iterable[str]) -> str:
    """Return an expression that matches any of some words, the longest first."""
    ordered = sorted(set(listed), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word) for word in ordered) + ")"


@cache
def keyed(group: str) -> Mapping[str, str]:
    """Return the words of a list by their keys: `starters` is `starter`."""
    return {name_key(word): word for word in words(group)}


def forms(group: str) -> Mapping[str, re.Pattern[str]]:
    """Return the forms of requests a module reads, by their names."""
    return {
        name: re.compile(_whole(group, name), re.IGNORECASE)
        for name in _book("forms.yaml")[group]
        if name != "parts"
    }


def _whole(group: str, name: str) -> str:
    """Return an expression with its parts in their places."""
    own = _book("forms.yaml")[group]
    return expression(own[name], own.get("parts", {}))


def expression(told: str | list[str], parts: Mapping[str, str]) -> str:
    """Return an expression with its own parts, and those that all have, in their places."""

    def put(found: re.Match[str]) -> str:
        part = found[1]
        if part in _PARTS:
            return _PARTS[part]
        return expression(parts[part], parts) if part in parts else any_of(part)

    return _PART.sub(put, told if isinstance(told, str) else "|".join(told))


def _book(name: str = "words.yaml") -> dict[str, Any]:
    return bundled_yaml("callboard.packs.alfred.kitchen.router", name)


MOST_ITEMS: Final = 40
LONGEST_NAME: Final = 120
_HELD: Final = "\x01"
_AMPERSAND: Final = "\x02"
_SEPARATOR: Final = re.compile(
    r"\s*(?:(?<!\d),|,(?!\d)|;|\n|\+)\s*(?:and\s+|&\s*)?|\s+(?:and|&|plus)\s+", re.IGNORECASE
)
_BULLET: Final = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)])\s+(?=\S)")
_FILLER: Final = re.compile(
    r"^(?:(?:the|my|our|some|any|more|another|extra|fresh bunch of the|please|also|again)\s+)+",
    re.I,
)
# What sounds like more than a thing is none.
_NO_THING: Final = re.compile(
    r"^to\s|\b(?:recipe|recipes|task|reminder|to do|then|because|if|please|should|could|missing|"
    r"what|that|this|it|them|those|these|everything|something|anything|nothing|all|plan|dinner|"
    r"lunch|breakfast|servings|ideas?|help|time|break|allergy|allergies)\b",
    re.I,
)
_VAGUE: Final = re.compile(r"^(?:a (?:lot|bit|little|few) of|lots of|a few|a bit of)\s+", re.I)
_COUPLE: Final = re.compile(r"^(?:a )?couple(?: of)?\s+", re.I)
_HALF: Final = re.compile(
    r"^(?:(?:the|a)\s+)?half(?:\s+(?:a|an|of (?:an?|the)))?\s+(?!and\b)", re.I
)
_QUARTER: Final = re.compile(r"^(?:(?:the|a)\s+)?quarter(?:\s+(?:of (?:an?|the)|of))?\s+", re.I)
# A sentence about a thing is no name of one.
_CLAUSE: Final = re.compile(
    r"^(?:gone|been|put|had|done|made|seen|lost|run|ran|never|not|no|too|so|but|as|than|for some|"
    r"to)\b|"
    r"\b(?:they|it|he|she|we|i|you|is|are|was|were|had|have|has|did|does|would|will|could|because|"
    r"though|although|but|if|which|who|when|while|there|really|actually|mind|instead|except|minus|"
    r"twice|as (?:much|many))\b|n't\b|'(?:re|m|ve|ll|d)\b|(?:^|\s)-\s",
    re.I,
)
# When, where and by whom says nothing about the thing.
_TAIL: Final = re.compile(
    r"\s+(?:(?:on|at|from|behind|by) (?:the|her|his|my|our|their) (?!bone\b|vine\b|cob\b)"
    r"[\w' -]{2,40}|for (?:the|my|our|his|her|their) [\w' -]{2,30}|"
    r"at (?:breakfast|lunch|dinner|home|work)|"
    r"today|yesterday|tonight|this (?:morning|afternoon|evening|week)|just now|earlier|too|as well|"
    r"on (?:offer|sale)|left)$",
    re.I,
)
_COUNTED: Final = re.compile(r"^(?P<name>[^()]*[^()\s])\s*\((?P<count>\d{1,3}|[a-z]+)\)$", re.I)
_OR: Final = re.compile(r"^(?P<low>\d{1,3}) (?:or|to) \d{1,3}\s+(?=\D)", re.I)
_SHARES: Final = {
    "half": 0.5, "a half": 0.5, "a third": 1 / 3, "one third": 1 / 3, "a quarter": 0.25,
    "one quarter": 0.25, "two thirds": 2 / 3, "three quarters": 0.75,
}  # fmt: skip
_SHARE: Final = re.compile(
    r"^(?P<part>half|(?:a|one)[- ](?:half|third|quarter)|two[- ]thirds|three[- ]quarters)"
    r"(?: of)? (?:the|my|our|that) (?!kilo|pound|litre|liter)",
    re.I,
)
_DOZEN: Final = re.compile(r"^dozens?\s+(?:of\s+)?", re.I)
_TIMES: Final = re.compile(r"^[x\u00d7]\s*", re.I)
_TRAILING: Final = re.compile(r"^(?P<name>.*\D)\s*[x\u00d7]\s*(?P<count>\d{1,4})$", re.I)
_SIZED: Final = re.compile(
    r"^(?:(?:huge|big|large|small|little|whole|full|giant|massive|tiny) )+(?P<unit>[^\W\d_]+) of ",
    re.I,
)
# An amount that stands within a name was not read.
_MEASURED: Final = re.compile(
    r"\b\d+(?:[.,]\d+)? ?(?:kg|g|grams?|ml|cl|l|lbs?|oz|packs?)\b|\d-packs?\b|^plus\b", re.I
)
_OF: Final = re.compile(r"^(?P<unit>[^\W\d_]+)\s+of\s+(?P<name>\S.*)$", re.I)


@dataclass(frozen=True, slots=True)
class Item:
    """A thing, and how much of it if that was said."""

    name: str
    quantity: float | None = None
    unit: str | None = None
    # How much of what is there, if that was said: half the cream.
    share: float | None = None

    @property
    def told(self) -> str:
        """It with its amount, as one says it."""
        if self.quantity is None:
            return self.name
        return f"{spoken_amount(self.quantity, self.unit)} {self.name}"

    def record(self, column: str) -> dict[str, Any]:
        """Return it as a row says it, under the column that names it."""
        said: dict[str, Any] = {column: self.name}
        if self.quantity is not None:
            said["quantity"] = self.quantity
        if self.unit is not None:
            said["unit"] = self.unit
        return said


def split_items(text: str) -> list[str]:
    """Return the parts of a list, as they are written."""
    held = _hold_compounds(text)
    parts = [_BULLET.sub("", part).strip() for part in _SEPARATOR.split(held)]
    return [
        part.replace(_HELD, " and ").replace(_AMPERSAND, " & ")
        for part in parts
        if part.strip(" .!")
    ]


def read_items(text: str) -> tuple[Item, ...]:
    """Return what a list names; nothing if a part of it cannot be a thing."""
    items = [read_item(part) for part in split_items(text)]
    known = [item for item in items if item is not None]
    if len(known) != len(items) or len(known) > MOST_ITEMS:
        return ()
    return tuple(known)


def read_things(text: str) -> tuple[Item, ...]:
    """Return what a list names; nothing if a part of it sounds like more than a thing."""
    items = read_items(text)
    return () if any(_NO_THING.search(item.name) for item in items) else items


def is_known(item: Item) -> bool:
    """Say whether the lexicon knows a thing, as food or for the household."""
    return food_facts(item.name).category != OTHER


def read_item(text: str) -> Item | None:
    """Return one thing with its amount, or None if there is no name in it."""
    shared = _SHARE.match(text.strip())
    if shared is not None:
        whole = _item(_TAIL.sub("", text.strip()[shared.end() :]), None, None)
        part = _SHARES[shared["part"].casefold().replace("-", " ")]
        return None if whole is None else Item(whole.name, part, None, part)
    rest = _TAIL.sub("", _TAIL.sub("", _FILLER.sub("", text.strip(' .!?\t"“”'))))
    counted = _COUNTED.match(rest)
    count = None if counted is None else read_count(counted["count"])
    if counted is not None and count is not None:
        return _item(counted["name"], count, None)
    trailing = _TRAILING.match(rest)
    if trailing is not None:
        return _item(trailing["name"], float(trailing["count"]), None)
    quantity, rest = _quantity(rest)
    rest = _FILLER.sub("", rest)
    if quantity is None:
        return _item(_VAGUE.sub("", rest), None, None)
    dozen = _DOZEN.match(rest)
    if dozen is not None:
        return _item(rest[dozen.end() :], quantity * 12, None)
    return _with_unit(quantity, _TIMES.sub("", rest))


def _quantity(text: str) -> tuple[float | None, str]:
    if _VAGUE.match(text):
        return None, text
    either = _OR.match(text)
    if either is not None:
        # Of "4 or 5" the smaller number is there for sure.
        return float(either["low"]), text[either.end() :]
    for pattern, value in ((_COUPLE, 2.0), (_HALF, 0.5), (_QUARTER, 0.25)):
        found = pattern.match(text)
        if found is not None:
            return value, text[found.end() :]
    first, _, rest = text.partition(" ")
    word = numbers().get(first.casefold())
    if word is not None and rest:
        return word, _after_article(word, rest.strip())
    return read_quantity(text)


def _after_article(value: float, rest: str) -> str:
    """Drop what only fills: `a dozen` keeps its dozen, `one more` its one."""
    return rest if value != 1.0 else re.sub(r"^(?:more|extra)\s+", "", rest, flags=re.I)


def _with_unit(quantity: float, text: str) -> Item | None:
    text = re.sub(r"^of (?:the|my|our|those|these) ", "", text, flags=re.I)
    sized = _SIZED.match(text)
    if sized is not None and is_known_unit(sized["unit"]):
        # How big a bag is nobody can reckon with.
        text = text[sized.start("unit") :]
    parts = text.split()
    for size in (2, 1):
        unit = " ".join(parts[:size])
        if len(parts) > size and is_known_unit(unit):
            name = re.sub(r"^of\s+", "", " ".join(parts[size:]), flags=re.I)
            return _item(name, quantity, canonical_unit(unit))
    unknown = _OF.match(text)
    if unknown is not None:
        # Nobody knows how much a smidgen is; it stays what was said.
        return _item(unknown["name"], quantity, canonical_unit(unknown["unit"]))
    return _item(text, quantity, None)


def _item(name: str, quantity: float | None, unit: str | None) -> Item | None:
    plain, count = _pictured(_FILLER.sub("", name.strip(' .,;:!?-\t"“”')))
    quantity = float(count) if quantity is None and count > 1 else quantity
    if not plain or len(plain) > LONGEST_NAME or plain.isdigit() or plain.casefold() in numbers():
        return None
    if _CLAUSE.search(plain) or _MEASURED.search(plain) or objection(plain):
        return None
    return Item(plain, quantity, unit)


def _pictured(name: str) -> tuple[str, int]:
    """Return what a picture shows that stands for a thing, and how often it stands there."""
    pictures: Mapping[str, str] = {} if name.isascii() else _pictures()
    for sign, shown in pictures.items():
        if name and not name.replace(sign, "").strip():
            return shown, name.count(sign)
    return name, 1


def _pictures() -> Mapping[str, str]:
    return bundled_yaml("callboard.packs.alfred.kitchen.hearing", "lexicon.yaml")["pictures"]


def _hold_compounds(text: str) -> str:
    held = text
    for compound in words("compounds"):
        first, _, last = compound.partition(" and ")
        joined = rf"\b({re.escape(first)}) (?:and|&) ({re.escape(last)})\b"
        held = re.sub(joined, rf"\1{_HELD}\2", held, flags=re.IGNORECASE)
    if re.search(r"\sand\s", held, re.I):
        # Who writes both "and" and "&" means one name by the sign: Ben & Jerry's.
        held = re.sub(r"(?<=\w) & (?=\w)", _AMPERSAND, held)
    return held


OF_OURS: Final = r"(?:(?:my|the|our|this week's|that)\s+)?"
PLACE: Final = any_of("places")
LIST: Final = any_of("lists")
TASK_LIST: Final = any_of("todos")
TARGET: Final = rf"(?:{LIST}|{PLACE}|{TASK_LIST})"
_PARTS: Final = {
    "DAY": DAY, "PERIOD": PERIOD, "RANGE": RANGE, "OF_OURS": OF_OURS, "LIST": LIST,
    "TARGET": TARGET, "PLACE": PLACE,
}  # fmt: skip
_PART: Final = re.compile(r"<<([\w]+)>>")

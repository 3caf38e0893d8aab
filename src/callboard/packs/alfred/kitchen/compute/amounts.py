"""Amounts: numbers with units, read, told and converted within a kind. Nothing is guessed.

A volume becomes a weight only by a known density.
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from string import whitespace
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import composed
from callboard.knowledge.entities.matching import name_key, singular

TOLERANCE: Final = 1e-6
DECIMALS: Final = 3
PIECE: Final = "piece"
_MASS: Final = "[mass]"
_VOLUME: Final = "[volume]"


def canonical_unit(text: str | None) -> str | None:
    """Return a unit in its one spelling; pieces are no unit, and an unknown word stays as it is."""
    if text is None or not text.strip():
        return None
    stripped = composed(text).strip().rstrip(f"{whitespace}.")
    known = _exact().get(stripped) or _spellings().get(_spelling(stripped))
    if known == PIECE:
        return None
    return known or stripped or None


def is_known_unit(text: str | None) -> bool:
    """Say whether a unit is one of the kitchen's; having none is."""
    unit = canonical_unit(text)
    return unit is None or unit in _entries()


def convert(
    quantity: float, source: str | None, target: str | None, g_per_ml: float | None = None
) -> float | None:
    """Return a quantity in another unit, or None if nobody can say."""
    here, there = canonical_unit(source), canonical_unit(target)
    if _same(here, there):
        return quantity
    one, other = _measure(here), _measure(there)
    if one is None or other is None:
        return None
    if one[0] == other[0]:
        return quantity * one[1] / other[1]
    if g_per_ml is None or not g_per_ml > 0 or {one[0], other[0]} != {_MASS, _VOLUME}:
        return None
    density = g_per_ml if one[0] == _VOLUME else 1 / g_per_ml
    return quantity * one[1] * density / other[1]


def is_enough(have: float, needed: float) -> bool:
    """Say whether a quantity covers another, but for what arithmetic loses."""
    return have >= needed or math.isclose(have, needed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def rounded(quantity: float) -> float:
    """Return a quantity as it is stored."""
    return round(quantity, DECIMALS)


def _same(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one == other
    return one == other or name_key(one) == name_key(other)


def _spelling(text: str) -> str:
    return name_key(text.replace(".", " ")) or text.casefold()


def _entries() -> dict[str, dict[str, Any]]:
    return bundled_yaml("callboard.packs.alfred.kitchen.compute", "units.yaml")


@cache
def _spellings() -> dict[str, str]:
    known: dict[str, str] = {}
    for unit, entry in _entries().items():
        for spelling in (unit, *entry.get("spellings", ())):
            known[spelling.casefold()] = unit
            known[_spelling(spelling)] = unit
    return known


@cache
def _exact() -> dict[str, str]:
    return {
        spelling: unit for unit, entry in _entries().items() for spelling in entry.get("exact", ())
    }


@cache
def _measure(unit: str | None) -> tuple[str, float] | None:
    """Return what a unit measures and how many base units it is."""
    entry = _entries().get(unit or PIECE)
    if entry is None or "pint" not in entry:
        return None
    registry = _registry()
    name = str(entry["pint"]).partition(" = ")[0]
    quantity: Any = registry.Quantity(1.0, name).to_base_units()
    return str(quantity.dimensionality), float(quantity.magnitude)


@cache
def _registry() -> Any:
    import pint

    # Only the kitchen's own units: pint's full list takes long to load, and knows `c` as a speed.
    registry: Any = pint.UnitRegistry(None)  # pyright: ignore[reportArgumentType, reportUnknownVariableType] - pint takes it
    for entry in _entries().values():
        if "pint" in entry:
            registry.define(str(entry["pint"]))
    return registry


_NUMBER: Final = re.compile(r"\s*(?:(\d+)\s+)?(\d+)\s*/\s*(\d+)|\s*(\d+(?:[.,]\d+)?)")
_DENOMINATORS: Final = (1, 2, 3, 4, 8)
_SIGNS: Final = {
    Fraction(1, 2): "½",
    Fraction(1, 3): "⅓",
    Fraction(2, 3): "⅔",
    Fraction(1, 4): "¼",
    Fraction(3, 4): "¾",
    Fraction(1, 8): "⅛",
    Fraction(3, 8): "⅜",
    Fraction(5, 8): "⅝",
    Fraction(7, 8): "⅞",
}


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of what."""

    quantity: float | None
    unit: str | None
    name: str


def read_amount(text: str) -> Amount:
    """Return what a short line says; without a number in front, all of it is the name."""
    plain = _plain(text)
    quantity, rest = read_number(plain)
    if quantity is None:
        return Amount(None, None, text.strip())
    unit, name = _unit_of(rest)
    if not name:
        return Amount(None, None, text.strip())
    return Amount(quantity, canonical_unit(unit), name)


def read_number(text: str) -> tuple[float | None, str]:
    """Return the number a text starts with, and the rest of it."""
    plain = _plain(text)
    found = _NUMBER.match(plain)
    if found is None:
        return None, plain.strip()
    rest = plain[found.end() :].strip()
    whole, upper, lower, number = found.groups()
    if number is not None:
        return float(number.replace(",", ".")), rest
    if int(lower) == 0:
        return None, plain.strip()
    return float(int(whole or 0) + Fraction(int(upper), int(lower))), rest


def read_quantity(text: str) -> tuple[float | None, str]:
    """Return how many a text begins with and of what; no number if it belongs to the name."""
    number, after = read_number(text)
    if number is None or not 0 < number < 1e7 or not after or _is_name(text, after):
        return None, text
    return number, after


def _is_name(text: str, after: str) -> bool:
    """Say whether a number belongs to a name: `7up` is no seven of anything."""
    first = after.split()[0]
    is_joined = text.endswith(after) and not text[: -len(after)].endswith(" ")
    if is_joined and re.match(r"-[^\W\d]", first):
        return True
    return is_joined and first[0].isalpha() and not is_known_unit(first) and first != "x"


def kitchen_fraction(quantity: float) -> str:
    """Return a quantity as a measuring cup shows it; for showing only, never for reckoning."""
    if quantity >= 20:
        return f"{quantity:.0f}"
    near = min(
        (Fraction(round(quantity * lower), lower) for lower in _DENOMINATORS),
        key=lambda fraction: (abs(float(fraction) - quantity), fraction.denominator),
    )
    if near == 0 or abs(float(near) - quantity) > 0.02 * max(quantity, 1):
        return f"{quantity:.2g}" if quantity < 1 else f"{quantity:.3g}"
    whole, part = divmod(near, 1)
    sign = _SIGNS.get(Fraction(part), "")
    return f"{whole or ''}{sign}" if part else str(whole)


def spoken_amount(quantity: float | None, unit: str | None) -> str:
    """Return an amount as it is told: `1½ cup`, `6`, `some`."""
    if quantity is None:
        return "some"
    shown = f"{quantity:.0f}" if quantity >= _SHOWN_WHOLE_FROM else f"{round(quantity, 2):g}"
    return f"{shown} {unit_word(quantity, unit)}" if unit else shown


def unit_word(quantity: float, unit: str) -> str:
    """Return a unit as it stands behind a number: `1 can`, `2 cans`, `2 tbsp`."""
    if quantity <= 1 or unit in _NEVER_PLURAL or unit.endswith("s") or not unit.isalpha():
        return unit
    if unit.endswith("f"):
        return f"{unit[:-1]}ves"
    return f"{unit}es" if unit.endswith(("ch", "sh", "x")) else f"{unit}s"


def counted_name(quantity: Any, unit: Any, name: str) -> str:
    """Return a name as it stands behind its number: 1 egg, 2 eggs, 1 cup eggs."""
    if unit or not isinstance(quantity, int | float) or not 0 < quantity <= 1:
        return name
    rest, space, last = name.rpartition(" ")
    one = singular(last.casefold())
    return f"{rest}{space}{one}" if last.islower() and one != last else name


_SHOWN_WHOLE_FROM: Final = 100
_NEVER_PLURAL: Final = frozenset(
    {"g", "kg", "mg", "ml", "cl", "dl", "l", "tsp", "tbsp", "oz", "lb", "cm", "mm", "pt", "qt"}
)


def _unit_of(text: str) -> tuple[str | None, str]:
    words = text.split()
    for size in (2, 1):
        unit = " ".join(words[:size])
        if len(words) > size and is_known_unit(unit):
            return unit, _after_unit(words[size:])
    return None, text


def _after_unit(words: list[str]) -> str:
    return " ".join(words[1:] if words[0].casefold() == "of" and len(words) > 1 else words)


def _plain(text: str) -> str:
    """Write signs such as ½ as `1/2`, set off from a number before them."""
    spaced = re.sub(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])", " ", text)
    return composed(spaced).replace("\u2044", "/")


_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
_FILLING: Final = frozenset(["a", "an", "of", "the"])


def with_own_words(said: str, raw: Any, *, is_scaled: bool = False) -> str:
    """Return a line as it was read, and its own words beside it where they say something else.

    A scaled line has other numbers than its words; a range or a second amount still is told.
    """
    told = [each for each in _words_in(str(raw or "")) if each not in _FILLING]
    shown = set(_words_in(said))
    numbers = [each for each in told if each.isdigit()]
    if is_scaled and len(numbers) <= 1:
        told = [each for each in told if not each.isdigit()]
    if all(each in shown for each in told):
        return said
    return f"{said}  [{' '.join(str(raw).split())}]"


def _words_in(text: str) -> list[str]:
    """Return the words and numbers of a text; a unit is told in its one spelling."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2044", "/")
    return [canonical_unit(each) or each for each in _WORD.findall(plain)]

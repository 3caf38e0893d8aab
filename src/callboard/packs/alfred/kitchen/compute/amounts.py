"""Amounts as people write them: a number, a fraction, a unit, and the rest is the name."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from callboard.core.canonical import composed
from callboard.packs.alfred.kitchen.compute.units import canonical_unit, is_known_unit

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

"""Units of the kitchen: one spelling each, and exact conversion where there is one.

A unit nobody knows stays the text it is and equals only itself. Mass becomes volume only with a
known density. Nothing is guessed.
"""

import math
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.composed import composed
from callboard.knowledge.entities.matching import name_key

TOLERANCE: Final = 1e-6
DECIMALS: Final = 3
PIECE: Final = "piece"
_MASS: Final = "[mass]"
_VOLUME: Final = "[volume]"


def canonical_unit(text: str | None) -> str | None:
    """Return a unit in its one spelling; pieces are no unit, and an unknown word stays as it is."""
    if text is None or not text.strip():
        return None
    stripped = composed(text).strip().rstrip(".")
    known = _exact().get(stripped) or _spellings().get(_spelling(stripped))
    if known == PIECE:
        return None
    return known or stripped


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

"""Quantities as a cook writes them: halves, thirds and quarters, whole numbers, few decimals."""

import math
from typing import Final

_SHOWN: Final = (
    (0.0, ""),
    (1 / 8, "⅛"),
    (1 / 4, "¼"),
    (1 / 3, "⅓"),
    (3 / 8, "⅜"),
    (1 / 2, "½"),
    (5 / 8, "⅝"),
    (2 / 3, "⅔"),
    (3 / 4, "¾"),
    (7 / 8, "⅞"),
    (1.0, ""),
)
_METRIC: Final = frozenset(["g", "kg", "mg", "ml", "cl", "dl", "l", "cm"])
_NEAR: Final = 0.02
_LARGE: Final = 20


def kitchen_quantity(quantity: float, unit: str | None = None) -> str:
    """Return a quantity for display; metric units and large numbers stay decimal."""
    if unit in _METRIC or quantity >= _LARGE:
        return _decimal(quantity)
    whole = math.floor(quantity)
    near, shown = min(_SHOWN, key=lambda pair: abs(pair[0] - (quantity - whole)))
    if abs(near - (quantity - whole)) > _NEAR:
        return _decimal(quantity)
    whole += round(near) if near == 1.0 else 0
    if not whole and not shown:
        return _decimal(quantity)
    return f"{whole or ''}{shown}" if shown else str(whole)


def kitchen_amount(quantity: float | None, unit: str | None) -> str:
    """Return a quantity with its unit, or what there is of them."""
    shown = "" if quantity is None else kitchen_quantity(quantity, unit)
    return f"{shown} {unit or ''}".strip()


def _decimal(quantity: float) -> str:
    if quantity >= 100:
        return f"{quantity:.0f}"
    digits = 1 if quantity >= 10 else 2
    shown = f"{quantity:.{digits}f}".rstrip("0").rstrip(".")
    return shown if shown not in ("", "0") else f"{quantity:.2g}"

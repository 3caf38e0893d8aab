"""The answer that raises a budget: what it looks like, what it suggests, and what it sets.

An amount in an answer is always the new limit as a whole, never something to add: an answer that is
read again after a crash then means the same.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.models.accounts import Dimension, Limits, Scope
from callboard.models.accounts.amounts import MICROUSD_PER_USD

RAISE_PATTERN: Final = r"raise to \$?\d[\d,]*(\.\d+)?( \w+)?"
_AMOUNT: Final = re.compile(r"raise to \$?(\d[\d,]*(?:\.\d+)?)(?: \w+)?")
_UNITS: Final = {Dimension.MONEY: MICROUSD_PER_USD, Dimension.TIME: 60_000}


@dataclass(frozen=True, slots=True)
class Raise:
    """A budget that an answer can raise."""

    scope: Scope
    dimension: Dimension
    suggested: int

    @property
    def choice(self) -> str:
        """The answer that raises it to what is suggested."""
        return f"raise to {self.dimension.told(self.suggested)}"

    def limits(self, answer: Json) -> Limits | None:
        """Return the limit an answer names, or None if it names none."""
        found = _AMOUNT.fullmatch(answer) if isinstance(answer, str) else None
        if found is None:
            return None
        amount = float(found[1].replace(",", "")) * _UNITS.get(self.dimension, 1)
        return Limits(**{self.dimension.value: max(1, round(amount))})


def raise_for(reason: CallboardError) -> Raise | None:
    """Return how an answer can raise the budget that says no; a plan's period cannot be raised."""
    told = reason.context
    if not told.get("can_raise"):
        return None
    limit, spent, reserved, wanted = (
        int(told.get(name) or 0) for name in ("limit", "spent", "reserved", "wanted")
    )
    dimension = next(each for each in Dimension if each.noun == told["dimension"])
    suggested = max(2 * limit, spent + reserved + wanted)
    return Raise(Scope.parse(str(told["scope"])), dimension, _rounded(suggested, dimension))


def _rounded(amount: int, dimension: Dimension) -> int:
    """Return at least the amount, in steps in which it can be written."""
    step = {Dimension.TIME: 600}.get(dimension, 1)
    return -(-amount // step) * step

"""Plans: which meals of some days are still open."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any, Final

from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.compute.rows import Row

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MOST_DAYS: Final = 62


def open_slots(
    first: date,
    last: date,
    meal_types: Sequence[str] = ("dinner",),
    existing: Iterable[Row] = (),
    cooking_days: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the meals nobody has planned yet, by day; without cooking days, every day counts."""
    if (last - first).days > _MOST_DAYS:
        raise InvalidInput(
            f"{first} to {last} are more than {_MOST_DAYS} days", fix="Plan in smaller parts."
        )
    taken = {
        (str(row.get("plan_date")), str(row.get("meal_type") or "dinner"))
        for row in existing
        if row.get("status") != "skipped"
    }
    slots: list[dict[str, str]] = []
    day = first
    while day <= last:
        name = WEEKDAYS[day.weekday()]
        if not cooking_days or name in cooking_days:
            for meal in meal_types:
                if (day.isoformat(), meal) not in taken:
                    slots.append({"date": day.isoformat(), "day": name, "meal_type": meal})
        day += timedelta(days=1)
    return {"slots": slots, "count": len(slots)}

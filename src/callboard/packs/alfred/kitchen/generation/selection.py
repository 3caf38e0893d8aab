"""Selection: a plan made of the user's own recipes, one for each open meal.

Code says which recipes somebody may eat and which days are open; a model only picks among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from callboard.choreography.turn.domain import Row
from callboard.packs.alfred.kitchen.compute.matching import MatchOptions, match_recipes
from callboard.packs.alfred.kitchen.compute.plans import open_slots
from callboard.packs.alfred.kitchen.profile.effects import dinners_in
from callboard.packs.alfred.kitchen.safety.checking import Eater

MOST_CANDIDATES: Final = 8
_WEEKEND: Final = ("sat", "sun")
_NOT_FOR: Final = {
    "dinner": frozenset({"breakfast", "dessert", "snack", "drink", "appetizer", "side"}),
    "lunch": frozenset({"breakfast", "dessert", "snack", "drink", "appetizer", "side"}),
    "breakfast": frozenset({"main", "soup", "dinner", "dessert", "side", "salad", "lunch"}),
    "snack": frozenset({"main", "dinner", "lunch", "soup"}),
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A meal that is to be planned."""

    date: str
    meal_type: str

    @property
    def name(self) -> str:
        """How it is asked about."""
        return f"{self.date} {self.meal_type}"


@dataclass(frozen=True, slots=True)
class PlanBrief:
    """What is to be planned, and from what."""

    start: date
    end: date
    meals: tuple[str, ...]
    count: int | None
    profile: Row
    eater: Eater
    today: date
    recipes: Sequence[Row] = ()
    stock: Sequence[Row] = ()
    planned: Sequence[Row] = ()

    def slots(self) -> list[Slot]:
        """Return the open meals to plan, spread over the days, as many as wanted."""
        open_days = self._open(self.profile.get("cooking_days") or ())
        if not open_days and self.profile.get("cooking_days"):
            # On the days they cook everything is planned; then any day will do.
            open_days = self._open(())
        return _spread(open_days, self._wanted(len(open_days)))

    def candidates(self, meal: str) -> list[Row]:
        """Return the recipes for a kind of meal that may be eaten, the best first."""
        avoided = _NOT_FOR.get(meal, frozenset())
        fitting = [
            row for row in self.recipes if str(row.get("course") or "").casefold() not in avoided
        ]
        found = match_recipes(fitting, self.stock, self.eater, MatchOptions(today=self.today))
        order = {str(each["id"]): place for place, each in enumerate(found["matches"])}
        allowed = [row for row in fitting if str(row["id"]) in order]
        recent = {str(row.get("recipe_id")) for row in self.planned}
        return sorted(allowed, key=lambda row: (str(row["id"]) in recent, order[str(row["id"])]))

    def _open(self, cooking_days: Sequence[str]) -> list[Slot]:
        first = max(self.start, self.today)
        if first > self.end:
            return []
        found = open_slots(first, self.end, self.meals, self.planned, cooking_days)
        slots = [Slot(each["date"], each["meal_type"]) for each in found["slots"]]
        if self.count is None and self.profile.get("cooking_frequency") == "weekends_only":
            weekend = {each["date"] for each in found["slots"] if each["day"] in _WEEKEND}
            return [slot for slot in slots if slot.date in weekend] or slots
        return slots

    def _wanted(self, available: int) -> int:
        if self.count is not None:
            return min(self.count, available)
        wanted = dinners_in(self.profile, max(self.start, self.today), self.end)
        return min(max(wanted * len(self.meals), 1), available)


def gaps_for(brief: PlanBrief, slots: Sequence[Slot]) -> dict[str, list[Row]]:
    """Return the recipes to pick from for each meal, in turns so that days differ."""
    gaps: dict[str, list[Row]] = {}
    by_meal = {meal: brief.candidates(meal) for meal in dict.fromkeys(s.meal_type for s in slots)}
    seen: dict[str, int] = {}
    for slot in slots:
        listed = by_meal[slot.meal_type]
        if not listed:
            continue
        place = seen.get(slot.meal_type, 0)
        seen[slot.meal_type] = place + 1
        size = max(min(MOST_CANDIDATES, len(listed) // max(len(slots), 1)), 1)
        start = (place * size) % len(listed)
        gaps[slot.name] = [listed[(start + n) % len(listed)] for n in range(min(size, len(listed)))]
    return gaps


def entries_for(
    slots: Sequence[Slot],
    gaps: Mapping[str, Sequence[Row]],
    picks: Mapping[str, str],
    household: float | None,
) -> list[dict[str, Any]]:
    """Return the plan's entries; a recipe comes twice only if there is no other."""
    used: set[str] = set()
    entries: list[dict[str, Any]] = []
    everything = _distinct(row for rows in gaps.values() for row in rows)
    for slot in slots:
        rows = gaps.get(slot.name)
        if not rows:
            continue
        picked = next((row for row in rows if str(row["name"]) == picks.get(slot.name)), rows[0])
        free = [row for row in (picked, *rows, *everything) if str(row["id"]) not in used]
        recipe = free[0] if free else picked
        used.add(str(recipe["id"]))
        entries.append(
            {
                "date": slot.date,
                "meal_type": slot.meal_type,
                "recipe_ref": str(recipe["id"]),
                "note": None,
                "servings": household or recipe.get("servings"),
                "label": str(recipe["name"]),
            }
        )
    return entries


def _spread(slots: Sequence[Slot], wanted: int) -> list[Slot]:
    if wanted >= len(slots):
        return list(slots)
    return [slots[place * len(slots) // wanted] for place in range(wanted)]


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({str(row["id"]): row for row in rows}.values())

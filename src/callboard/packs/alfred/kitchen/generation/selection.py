"""Selection: a plan made of the user's own recipes, one for each open meal.

Code says which recipes somebody may eat and which days are open; a model only picks among them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from callboard.choreography.turn.domain import Row
from callboard.knowledge.entities.matching import singular_words
from callboard.packs.alfred.kitchen.compute.matching import MatchOptions, match_recipes, open_slots
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for
from callboard.packs.alfred.kitchen.food.diets import diet_called
from callboard.packs.alfred.kitchen.profile import dinners_in

MOST_CANDIDATES: Final = 8
_WEEKEND: Final = ("sat", "sun")
_QUICK_MINUTES: Final = 30
_QUICK: Final = frozenset({"quick", "fast", "easy", "quicker", "faster", "easier"})
# Words of a wish that say nothing about the dish.
_FILLING: Final = frozenset(
    {"something", "anything", "else", "different", "another", "other", "with", "and", "a", "an",
     "the", "some", "please", "instead", "new", "nice", "dish", "meal", "recipe", "one", "that",
     "is", "be", "for", "to", "make", "it"}
)  # fmt: skip
_NOT_FOR: Final = {
    "dinner": frozenset({"breakfast", "dessert", "snack", "drink", "appetizer", "side"}),
    "lunch": frozenset({"breakfast", "dessert", "snack", "drink", "appetizer", "side"}),
    "breakfast": frozenset({"main", "soup", "dinner", "dessert", "side", "salad", "lunch"}),
    "snack": frozenset({"main", "dinner", "lunch", "soup"}),
}


@dataclass(frozen=True, slots=True)
class MealSlot:
    """A meal that is to be planned."""

    date: str
    meal_type: str

    @property
    def name(self) -> str:
        """How it is asked about."""
        return f"{self.date} {self.meal_type}"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted on one day: who eats it then, and words that say what it is."""

    eater: Eater
    words: tuple[str, ...] = ()
    is_quick: bool = False

    @classmethod
    def of(cls, text: str, eater: Eater) -> "Wish":
        """Return what a text says: `something quick with lentils`."""
        words = [word for word in singular_words(text) if word not in _FILLING]
        named = [word for word in words if diet_called(word) is None]
        return cls(eater, tuple(w for w in named if w not in _QUICK), bool(_QUICK & set(named)))

    def fits(self, row: Row) -> bool:
        """Say whether a recipe is what is wanted."""
        minutes = row.get("total_minutes")
        if self.is_quick and (minutes is None or minutes > _QUICK_MINUTES):
            return False
        lines = [line.get("name") for line in row.get("ingredients") or ()]
        tags = [tag.get("tag") for tag in row.get("tags") or ()]
        said = [row.get("name"), row.get("cuisine"), row.get("course"), *lines, *tags]
        known = singular_words(" ".join(str(each) for each in said if each))
        return all(word in known for word in self.words) and not check_for(self.eater, row)


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
    # What is wanted on some days.
    wishes: Mapping[str, Wish] = field(default_factory=dict[str, Wish])
    # Whether what is planned there gives way.
    replaces: bool = False

    def slots(self) -> list[MealSlot]:
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
        if not self.eater.has_limits:
            # What is in a recipe that is only a link, nobody knows: it comes last.
            links = [str(row["id"]) for row in fitting if not row.get("ingredients")]
            order |= {key: len(order) + place for place, key in enumerate(links)}
        allowed = [row for row in fitting if str(row["id"]) in order]
        recent = {str(row.get("recipe_id")) for row in self.planned}
        if self.replaces:
            own = {str(row.get("recipe_id")) for row in self.planned if self._holds(row)}
            allowed = [row for row in allowed if str(row["id"]) not in own]
        return sorted(allowed, key=lambda row: (str(row["id"]) in recent, order[str(row["id"])]))

    def _holds(self, planned: Row) -> bool:
        is_within = self.start.isoformat() <= str(planned.get("plan_date")) <= self.end.isoformat()
        return is_within and str(planned.get("meal_type") or "dinner") in self.meals

    def _open(self, cooking_days: Sequence[str]) -> list[MealSlot]:
        first = max(self.start, self.today)
        if first > self.end:
            return []
        taken = () if self.replaces else self.planned
        found = open_slots(first, self.end, self.meals, taken, cooking_days)
        slots = [MealSlot(each["date"], each["meal_type"]) for each in found["slots"]]
        if self.count is None and self.profile.get("cooking_frequency") == "weekends_only":
            weekend = {each["date"] for each in found["slots"] if each["day"] in _WEEKEND}
            return [slot for slot in slots if slot.date in weekend] or slots
        return slots

    def _wanted(self, available: int) -> int:
        if self.count is not None:
            return min(self.count, available)
        wanted = dinners_in(self.profile, max(self.start, self.today), self.end)
        return min(max(wanted * len(self.meals), 1), available)


def gaps_for(brief: PlanBrief, slots: Sequence[MealSlot]) -> dict[str, list[Row]]:
    """Return the recipes to pick from for each meal, in turns so that days differ."""
    gaps: dict[str, list[Row]] = {}
    by_meal = {meal: brief.candidates(meal) for meal in dict.fromkeys(s.meal_type for s in slots)}
    seen: dict[str, int] = {}
    for slot in slots:
        listed = by_meal[slot.meal_type]
        wish = brief.wishes.get(slot.date)
        if wish is not None:
            gaps[slot.name] = [row for row in listed if wish.fits(row)][:MOST_CANDIDATES]
        if wish is not None or not listed:
            continue
        place = seen.get(slot.meal_type, 0)
        seen[slot.meal_type] = place + 1
        size = max(min(MOST_CANDIDATES, len(listed) // max(len(slots), 1)), 1)
        start = (place * size) % len(listed)
        gaps[slot.name] = [listed[(start + n) % len(listed)] for n in range(min(size, len(listed)))]
    return gaps


def entries_for(
    slots: Sequence[MealSlot],
    gaps: Mapping[str, Sequence[Row]],
    picks: Mapping[str, str],
    household: float | None,
    wished: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the plan's entries; a recipe comes twice only if there is no other."""
    used: set[str] = set()
    entries: list[dict[str, Any]] = []
    everything = _distinct(row for rows in gaps.values() for row in rows)
    # A day with a wish chooses first, and only among what fits it.
    for slot in sorted(slots, key=lambda slot: slot.date not in wished):
        rows = gaps.get(slot.name)
        if not rows:
            continue
        picked = next((row for row in rows if str(row["name"]) == picks.get(slot.name)), rows[0])
        others = () if slot.date in wished else everything
        free = [row for row in (picked, *rows, *others) if str(row["id"]) not in used]
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
    return sorted(
        entries, key=lambda entry: slots.index(MealSlot(entry["date"], entry["meal_type"]))
    )


def _spread(slots: Sequence[MealSlot], wanted: int) -> list[MealSlot]:
    if wanted >= len(slots):
        return list(slots)
    return [slots[place * len(slots) // wanted] for place in range(wanted)]


def _distinct(rows: Iterable[Row]) -> list[Row]:
    return list({str(row["id"]): row for row in rows}.values())

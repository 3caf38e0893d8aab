"""What a profile decides, so that nobody is asked again. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

Row = Mapping[str, Any]
_DAYS_AHEAD: Final = {"week": 7, "few_days": 3, "day_of": 1}
_HABITS: Final = {
    "weekends_only": "on weekends",
    "3x_week": "three times a week",
    "daily": "every day",
}
_DINNERS: Final = {"weekends_only": 2, "3x_week": 3, "daily": 7}
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKEND: Final = ("sat", "sun")


def planning_range(profile: Row, today: date) -> tuple[date, date]:
    """Return the days `plan my meals` means: the next week, three days, or today."""
    horizon = str(profile.get("planning_horizon") or "week")
    if horizon == "day_of":
        return today, today
    first = today + timedelta(days=1) if horizon == "week" else today
    return first, first + timedelta(days=_DAYS_AHEAD[horizon] - 1)


def dinners_in(profile: Row, first: date, last: date) -> int:
    """Return how many dinners are proposed for some days."""
    days = (last - first).days + 1
    frequency = str(profile.get("cooking_frequency") or "3x_week")
    if frequency == "weekends_only":
        return sum(1 for day in _days(first, last) if _name(day) in _WEEKEND)
    weeks = days / 7
    return min(days, max(1, round(_DINNERS[frequency] * weeks)))


def needs_instructions(profile: Row) -> bool:
    """Say whether a generated recipe must say how it is made."""
    return profile.get("recipe_generation") != "ingredients_only"


def keeps_links(profile: Row) -> bool:
    """Say whether a recipe may be just a name and an address."""
    return profile.get("recipe_storage") in ("links_only", "mixed")


def meal_tasks(profile: Row, meal: str, steps: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the tasks of a planned meal: one, one that reminds of it, or one for each step."""
    granularity = profile.get("task_granularity") or "reminders"
    if granularity == "detailed" and steps:
        return [{"description": f"{meal}: {step}", "kind": "prep"} for step in steps]
    said = f"Reminder: {meal}" if granularity == "reminders" else f"Cook {meal}"
    return [{"description": said, "kind": "cooking"}]


def cooking_habit(profile: Row) -> str:
    """Return how often is cooked, to be told with a plan that goes by it."""
    return _HABITS[str(profile.get("cooking_frequency") or "3x_week")]


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _name(day: date) -> str:
    return _WEEKDAYS[day.weekday()]

"""What a profile decides, so that nobody is asked again. Pure."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

Row = Mapping[str, Any]
_DAYS_AHEAD: Final = {"week": 7, "few_days": 3, "day_of": 1}
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


def dinner_days(profile: Row, first: date, last: date) -> list[date]:
    """Return the days dinners are proposed for, spread over those on which is cooked."""
    wanted = dinners_in(profile, first, last)
    cooked: Sequence[str] = profile.get("cooking_days") or ()
    if profile.get("cooking_frequency") == "weekends_only":
        cooked = _WEEKEND
    days = _days(first, last)
    possible = [day for day in days if not cooked or _name(day) in cooked] or days
    if wanted >= len(possible):
        return possible
    step = len(possible) / wanted
    return [possible[int(number * step)] for number in range(wanted)]


def needs_instructions(profile: Row) -> bool:
    """Say whether a generated recipe must say how it is made."""
    return profile.get("recipe_generation") != "ingredients_only"


def keeps_links(profile: Row) -> bool:
    """Say whether a recipe may be just a name and an address."""
    return profile.get("recipe_storage") in ("links_only", "mixed")


def meal_tasks(profile: Row, meal: Row, steps: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the tasks of a planned meal: one, one with a reminder, or one for each step."""
    name = str(meal.get("name") or meal.get("note") or "dinner")
    due = meal.get("plan_date")
    granularity = profile.get("task_granularity") or "reminders"
    if granularity == "detailed" and steps:
        return [{"description": f"{name}: {step}", "kind": "prep", "due_at": due} for step in steps]
    said = f"Cook {name}" if granularity == "minimal" else f"Reminder: {name} today"
    return [{"description": said, "kind": "cooking", "due_at": due}]


def assumptions(profile: Row) -> list[str]:
    """Return what is taken from the profile when meals are planned, to be told with the plan."""
    frequency = str(profile.get("cooking_frequency") or "3x_week").replace("_", " ")
    horizon = str(profile.get("planning_horizon") or "week").replace("_", " ")
    return [f"cooking {frequency}", f"planning for: {horizon}"]


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _name(day: date) -> str:
    return _WEEKDAYS[day.weekday()]

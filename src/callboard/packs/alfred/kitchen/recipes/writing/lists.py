"""Lists: planned meals as a calendar file, and the shopping list as text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.compute.amounts import unit_word
from callboard.packs.alfred.kitchen.food.foods import category_words
from callboard.packs.alfred.kitchen.recipes.text import one_line, paragraphs
from callboard.packs.alfred.kitchen.recipes.writing.texts import kitchen_amount

_STARTS: Final = {
    "breakfast": time(8, 0),
    "lunch": time(12, 30),
    "snack": time(15, 30),
    "dinner": time(19, 0),
}
_MINUTES: Final = 60
_STATUSES: Final = {"planned": "TENTATIVE", "cooked": "CONFIRMED", "skipped": "CANCELLED"}


@dataclass(frozen=True, slots=True)
class CalendarTimes:
    """Where the household lives, and when it eats."""

    zone: str = "UTC"
    starts: Mapping[str, time] = field(default_factory=lambda: dict(_STARTS))
    minutes: int = _MINUTES


def write_calendar(
    meals: Iterable[Mapping[str, Any]], written_at: datetime, times: CalendarTimes | None = None
) -> str:
    """Return meals as an iCalendar file; a meal keeps its identity from one file to the next.

    A row has `id`, `plan_date`, `meal_type`, and a `recipe_name` or a `note`.
    """
    from icalendar import Calendar

    chosen = times or CalendarTimes()
    zone = _zone(chosen.zone)
    calendar: Any = Calendar()
    calendar.add("prodid", "-//Callboard//Alfred meal plan//EN")
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    calendar.add("x-wr-calname", "Meals")
    for meal in meals:
        calendar.add_component(_event(meal, written_at, zone, chosen))
    calendar.add_missing_timezones()
    return calendar.to_ical().decode("utf-8")


def _event(
    meal: Mapping[str, Any], written_at: datetime, zone: ZoneInfo, times: CalendarTimes
) -> Any:
    from icalendar import Event

    event: Any = Event()
    kind = str(meal.get("meal_type") or "dinner")
    starts = datetime.combine(_day(meal), times.starts.get(kind, time(19, 0)), tzinfo=zone)
    event.add("uid", f"{_identity(meal)}@callboard.meals")
    event.add("dtstamp", written_at.astimezone(UTC))
    event.add("dtstart", starts)
    event.add("dtend", _later(starts, times.minutes))
    event.add("summary", _summary(meal, kind))
    event.add("status", _STATUSES.get(str(meal.get("status") or "planned"), "TENTATIVE"))
    event.add("categories", [kind])
    about = _about(meal)
    if about:
        event.add("description", about)
    return event


def _later(starts: datetime, minutes: int) -> datetime:
    """Add real minutes, not wall-clock ones: a meal lasts as long on the night clocks change."""
    return (starts.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(starts.tzinfo)


def _identity(meal: Mapping[str, Any]) -> str:
    given = one_line(str(meal.get("id") or ""))
    if given:
        return given.replace(" ", "-")
    return f"{_day(meal).isoformat()}-{meal.get('meal_type', 'dinner')}-{meal.get('position', 0)}"


def _summary(meal: Mapping[str, Any], kind: str) -> str:
    name = one_line(str(meal.get("recipe_name") or meal.get("note") or ""))
    return f"{kind.capitalize()}: {name}" if name else kind.capitalize()


def _about(meal: Mapping[str, Any]) -> str:
    parts: list[str] = []
    servings = meal.get("servings")
    if isinstance(servings, (int, float)):
        parts.append(f"Servings: {servings:g}")
    if meal.get("recipe_name") and meal.get("note"):
        parts.append(paragraphs(str(meal["note"])))
    return "\n".join(parts)


def _day(meal: Mapping[str, Any]) -> date:
    value = meal.get("plan_date")
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError as error:
        raise InvalidInput(
            f"The meal's date {value!r} is no date.", fix="Give it as 2025-03-30."
        ) from error


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"There is no time zone {name!r}.", fix="Use a name such as Europe/Berlin."
        ) from error


_ORGANIZATIONS: Final = ("by_aisle", "by_category", "unorganized")
_DONE: Final = frozenset(["in_cart", "purchased"])


def write_shopping(items: Iterable[Mapping[str, Any]], organization: str = "by_category") -> str:
    """Return rows of a shopping list as text, grouped as the household likes it."""
    rows = [item for item in items if one_line(str(item.get("name") or ""))]
    if organization not in _ORGANIZATIONS:
        organization = "by_category"
    if organization == "unorganized":
        return "".join(f"{_entry(row)}\n" for row in rows)
    key = "aisle" if organization == "by_aisle" else "category"
    groups: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: str(row["name"]).casefold()):
        title = one_line(str(row.get(key) or row.get("category") or "other"))
        groups.setdefault(title, []).append(_entry(row))
    ordered = sorted(groups, key=lambda title: (title.casefold() == "other", title.casefold()))
    return "\n".join(f"{_title(title)}\n" + "\n".join(groups[title]) + "\n" for title in ordered)


def _entry(row: Mapping[str, Any]) -> str:
    given = row.get("quantity")
    quantity = float(given) if isinstance(given, (int, float)) and given > 0 else None
    unit = one_line(str(row.get("unit") or "")) or None
    if unit is not None and quantity is not None:
        unit = unit_word(quantity, unit)
    amount = kitchen_amount(quantity, unit)
    mark = "x" if row.get("status") in _DONE else " "
    return f"[{mark}] {amount} {one_line(str(row['name']))}".replace("  ", " ")


def _title(title: str) -> str:
    return category_words(title).capitalize()

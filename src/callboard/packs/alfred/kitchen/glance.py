"""Glance: what somebody sees of their kitchen at one look: list, stock, week. Words, no columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, cast

from callboard.choreography.turn.domain import Row
from callboard.packs.alfred.kitchen.compute.matching import SOON_DAYS
from callboard.packs.alfred.kitchen.compute.rows import FoodCatalogue
from callboard.packs.alfred.kitchen.compute.shortages import group_shopping
from callboard.packs.alfred.kitchen.food.foods import category_words
from callboard.packs.alfred.kitchen.presenting import amount

SHOWN_DAYS: Final = 14
_WEEK_DAYS: Final = 7
_MEALS: Final = ("breakfast", "lunch", "dinner", "snack")


@dataclass(frozen=True, slots=True)
class GlanceItem:
    """A line of a list: what, and how much of it."""

    name: str
    amount: str = ""
    # Why it deserves a look: in the cart, expiring, run low.
    note: str = ""
    is_urgent: bool = False


@dataclass(frozen=True, slots=True)
class GlanceGroup:
    """Items that belong together."""

    title: str
    items: tuple[GlanceItem, ...]


@dataclass(frozen=True, slots=True)
class GlanceDay:
    """A day and what is planned for it."""

    date: str
    title: str
    is_today: bool
    meals: tuple[GlanceItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Glance:
    """A kitchen at one look."""

    shopping: tuple[GlanceGroup, ...]
    stock: tuple[GlanceGroup, ...]
    week: tuple[GlanceDay, ...]

    @property
    def expiring(self) -> tuple[GlanceItem, ...]:
        """What must be used soon, the first first."""
        return next((each.items for each in self.stock if each.title == SOON), ())


SOON: Final = "Use soon"


def glance_at(
    shopping: Sequence[Row],
    stock: Sequence[Row],
    meals: Sequence[Row],
    organization: str,
    today: date,
) -> Glance:
    """Return what rows come to at one look."""
    return Glance(_listed(shopping, organization), _shelved(stock, today), _week(meals, today))


def _listed(rows: Sequence[Row], organization: str) -> tuple[GlanceGroup, ...]:
    groups = cast("Mapping[str, Sequence[Row]]", group_shopping(rows, organization)["groups"])
    is_grouped = organization in ("by_aisle", "by_category")
    return tuple(
        GlanceGroup(
            category_words(name).capitalize() if is_grouped else "", tuple(map(_wanted, items))
        )
        for name, items in groups.items()
        if items
    )


def _wanted(row: Row) -> GlanceItem:
    note = "in the cart" if row.get("status") == "in_cart" else ""
    return GlanceItem(
        str(row.get("name") or ""), amount(row.get("quantity"), row.get("unit")), note
    )


def _shelved(rows: Sequence[Row], today: date) -> tuple[GlanceGroup, ...]:
    soon: list[tuple[str, GlanceItem]] = []
    places: dict[str, list[GlanceItem]] = {}
    for row in rows:
        if row.get("quantity") == 0:
            continue
        item = _held(row, today)
        if item.is_urgent:
            soon.append((str(row.get("expires_on")), item))
        else:
            places.setdefault(str(row.get("location") or "other"), []).append(item)
    shelves = [GlanceGroup(SOON, tuple(item for _day, item in sorted(soon, key=_first_to_go)))]
    for place in sorted(places):
        items = sorted(places[place], key=lambda item: item.name.casefold())
        shelves.append(GlanceGroup(place.capitalize(), tuple(items)))
    return tuple(shelf for shelf in shelves if shelf.items)


def _held(row: Row, today: date) -> GlanceItem:
    name = FoodCatalogue().name(row)
    shown = amount(row.get("quantity"), row.get("unit"))
    expires = _date(row.get("expires_on"))
    if expires is not None and expires <= today + timedelta(days=SOON_DAYS):
        return GlanceItem(name, shown, _left((expires - today).days), is_urgent=True)
    least, have = row.get("low_threshold"), row.get("quantity")
    is_low = least is not None and have is not None and have <= least
    return GlanceItem(name, shown, "runs low" if is_low else "")


def _first_to_go(entry: tuple[str, GlanceItem]) -> tuple[str, str]:
    return entry[0], entry[1].name.casefold()


def _left(days: int) -> str:
    if days < 0:
        return "expired"
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")


def _week(rows: Sequence[Row], today: date) -> tuple[GlanceDay, ...]:
    by_day: dict[str, list[Row]] = {}
    for row in rows:
        by_day.setdefault(str(row.get("plan_date"))[:10], []).append(row)
    days = [today + timedelta(days=number) for number in range(SHOWN_DAYS)]
    # The coming week as it is, open days and all; of the one after it what is planned.
    shown = [*days[:_WEEK_DAYS], *(d for d in days[_WEEK_DAYS:] if d.isoformat() in by_day)]
    return tuple(
        GlanceDay(
            day.isoformat(),
            "Today" if day == today else f"{day:%a} {day.day}",
            day == today,
            tuple(map(_meal, sorted(by_day.get(day.isoformat(), ()), key=_course))),
        )
        for day in shown
    )


def _course(row: Row) -> tuple[int, int]:
    meal = str(row.get("meal_type"))
    return _MEALS.index(meal) if meal in _MEALS else len(_MEALS), int(row.get("position") or 0)


def _meal(row: Row) -> GlanceItem:
    recipe: Any = row.get("recipe")
    name = cast("Row", recipe).get("name") if isinstance(recipe, Mapping) else None
    status = str(row.get("status") or "")
    beside = status if status in ("cooked", "skipped") else ""
    return GlanceItem(str(name or row.get("note") or ""), str(row.get("meal_type") or ""), beside)


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None

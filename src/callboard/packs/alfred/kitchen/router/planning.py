"""Planning: a week or some days are filled, a planned day gets another dish or another day.

Code says which recipes fit; in Plan mode what comes of it is shown before anything is written.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from callboard.choreography.turn.domain import Routed, Row
from callboard.packs.alfred.kitchen.profile import cooking_habit, planning_range
from callboard.packs.alfred.kitchen.router.dates import (
    BARE_WEEKDAY,
    DAY,
    PERIOD,
    RANGE,
    Days,
    read_day,
    read_days,
)
from callboard.packs.alfred.kitchen.router.meals import find_recipe, plan_recipe, planned_day
from callboard.packs.alfred.kitchen.router.recipes import recipe_filters, split_diets
from callboard.packs.alfred.kitchen.router.situation import (
    MOST_ROWS,
    Situation,
    Steps,
    between,
    read_profile,
    read_recipes,
    read_stock,
    same,
)
from callboard.packs.alfred.kitchen.router.words import forms, kinds, read_count, read_things

_FORMS: Final = forms("planning")

_DAYS_AROUND: Final = 6
_CHANGE_HELP: Final = (
    "Nothing is saved. Say for example “swap Monday for something vegetarian”, “make it 4” or "
    "“without fish” after asking for the plan again."
)


async def route_planning(situation: Situation) -> Routed | None:
    """Route what fills days with dishes, or changes what fills them."""
    return await _planned(situation) or await _swapped(situation) or await _moved(situation)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A plan that is wanted."""

    days: Days
    meals: tuple[str, ...]
    count: float | None = None
    filters: Sequence[dict[str, Any]] = ()
    diets: Sequence[str] = ()
    without: Sequence[str] = ()
    # What is wanted on some days, in words.
    wishes: Mapping[str, str] = field(default_factory=dict[str, str])
    # Whether dishes that are planned there give way.
    replaces: bool = False


async def _planned(situation: Situation) -> Routed | None:
    request, *changes = [part.strip() for part in situation.text.split(";")]
    found = _FORMS["plan"].match(request)
    if found is None or not re.match(r"^(?:plan\b|.*\b(?:plan|menu)\b)", request, re.I):
        return None
    diets, kind = split_diets(found["kind"])
    count = _count(situation.text)
    for word in kind.split():
        number = read_count(word)
        count = count or number
        kind = kind.replace(word, "", 1) if number is not None else kind
    filters = recipe_filters(kind, "")
    if filters is None:
        return None
    general = [each for each in changes if _FORMS["swap"].match(each) is None]
    more, _ = split_diets(" ".join([found["rest"], *general]))
    profile = await situation.profile()
    named = re.search(rf"\b(?:{RANGE}|{PERIOD}|{DAY})", request, re.I)
    days = read_days(named[0], situation.today) if named else None
    days = days or _usual_days(situation, found["what"], profile)
    wishes, without, unread = _changes(situation, changes, days)
    if unread:
        return Routed(reply=f"I could not tell what to change by “{unread}”. {_CHANGE_HELP}")
    without += _without(found["rest"])
    assumptions = [] if named else [f"Planned for {days.dates[0]} to {days.dates[-1]}"]
    if count is None:
        assumptions.append(f"As many days as your profile says: {cooking_habit(profile)}")
    wanted = _Wanted(
        days, _meals(f"{found['what']} {found['rest']}"), count, filters, [*diets, *more], without,
        wishes,
    )  # fmt: skip
    return await _plan_steps(situation, wanted, tuple(assumptions))


def _changes(
    situation: Situation, changes: Sequence[str], days: Days
) -> tuple[dict[str, str], list[str], str]:
    """Return what changes to a plan ask for, and the first that nobody can read."""
    wishes: dict[str, str] = {}
    without: list[str] = []
    for each in changes:
        swap = _FORMS["swap"].match(each) or _FORMS["something"].match(each)
        left_out = _without(each)
        if swap is not None:
            day = _day_within(situation, _day_words(swap), days)
            if day is None:
                return {}, [], each
            wishes[day.isoformat()] = _what(swap)
        elif left_out:
            without += left_out
        elif _count(each) is None and not split_diets(each)[0]:
            return {}, [], each
    return wishes, without, ""


def _without(text: str) -> list[str]:
    named = [read_things(found["what"]) for found in _FORMS["without"].finditer(text)]
    return [item.name for items in named for item in items]


def _day_within(situation: Situation, words: str, days: Days) -> date | None:
    """Return the day of a plan that is meant: its own Monday, not the next there is."""
    day = read_day(words, situation.today)
    while day is not None and day < days.start and BARE_WEEKDAY.fullmatch(words):
        day += timedelta(days=7)
    return day if day is not None and days.start <= day <= days.end else None


async def _swapped(situation: Situation) -> Routed | None:
    """Have another dish on a day: the one that is named, or one that fits what is said."""
    found = _FORMS["swap"].match(situation.text) or _FORMS["something"].match(situation.text)
    if found is None:
        return None
    meal = _meal_of(found)
    day = await planned_day(situation, _day_words(found), meal)
    what = _what(found)
    if day is None or day < situation.today.day:
        return None
    if re.fullmatch(DAY, what, re.I):
        return await _exchanged(situation, day, what, meal)
    recipe = await find_recipe(
        situation, re.sub(r"^(?:the|a|an|my|our|some)\s+", "", what, flags=re.I)
    )
    if recipe is not None:
        return plan_recipe(situation, recipe, day, meal)
    diets, rest = split_diets(what)
    filters = recipe_filters(_FORMS["plain_wish"].sub("", rest), "") or []
    wanted = _Wanted(
        Days(day, day), (meal,), 1, filters, diets, wishes={day.isoformat(): what}, replaces=True
    )
    return await _plan_steps(situation, wanted, ())


async def _exchanged(situation: Situation, day: date, words: str, meal: str) -> Routed | None:
    """Let two days have each other's dish."""
    other = await planned_day(situation, words, meal)
    if other is None:
        return None
    one, two = [await _meal_on(situation, each, meal) for each in (day, other)]
    if one is None or two is None:
        empty = day if one is None else other
        return Routed(reply=f"No {meal} is planned for {empty.isoformat()}: {_CHANGE_HELP}")
    steps = situation.steps
    for row, given in ((one, two), (two, one)):
        values = {name: given[name] for name in ("recipe_id", "note", "servings")}
        _change(steps, f"Change {meal} on {row['plan_date']}", row, values)
    return steps.done(f"Swap {one['plan_date']} and {two['plan_date']}")


async def _moved(situation: Situation) -> Routed | None:
    """Have a planned dish on another day."""
    found = _FORMS["move"].match(situation.text)
    if found is None:
        return None
    meal = _meal_of(found)
    day = await planned_day(situation, _day_words(found), meal)
    row = None if day is None else await _meal_on(situation, day, meal)
    other = read_day(found["to"], situation.today)
    if day is None or other is None:
        return None
    while other < day and BARE_WEEKDAY.fullmatch(found["to"]):
        other += timedelta(days=7)
    if row is None:
        return Routed(reply=f"No {meal} is planned for {day.isoformat()}.")
    if await _meal_on(situation, other, meal) is not None:
        told = f"There is a {meal} on {other.isoformat()} already."
        return Routed(
            reply=f"{told} Say “swap {_day_words(found)} and {found['to']}” to exchange them."
        )
    steps = situation.steps
    told = f"Move {meal} from {day.isoformat()} to {other.isoformat()}"
    _change(steps, told, row, {"plan_date": other.isoformat()})
    return steps.done(told)


async def _meal_on(situation: Situation, day: date, meal: str) -> Row | None:
    filters = [same("plan_date", day.isoformat()), same("meal_type", meal)]
    rows = await situation.rows(table="meal_plans", filters=filters, limit=1)
    return rows[0] if rows else None


def _change(steps: Steps, what: str, row: Row, values: dict[str, Any]) -> None:
    row_id = str(row["id"])
    steps.write(
        what, op="update", table="meal_plans", filters=[same("id", row_id)],
        set=values, versions={row_id: row["version"]},
    )  # fmt: skip


def _meal_of(found: re.Match[str]) -> str:
    return kinds("meals")[_first(found, "meal", "meal2", "meal3").casefold() or "dinner"]


def _day_words(found: re.Match[str]) -> str:
    return _first(found, "day", "day2", "day3").removesuffix("'s")


def _what(found: re.Match[str]) -> str:
    return _first(found, "what", "what2").strip(" \"'“”.")


def _first(found: re.Match[str], *names: str) -> str:
    groups = found.groupdict()
    return next((groups[name] for name in names if groups.get(name)), "")


async def _plan_steps(
    situation: Situation, wanted: _Wanted, assumptions: tuple[str, ...]
) -> Routed:
    days = wanted.days
    diets = [f"diet:{diet}" for diet in wanted.diets]
    likely = None if wanted.filters else await situation.likely(diets)
    steps = situation.steps
    # What is eaten on the days around is not to come again.
    around = timedelta(days=_DAYS_AROUND if wanted.replaces else 0)
    first, last = (days.start - around).isoformat(), (days.end + around).isoformat()
    occupied = {"filters": [between("plan_date", first, last)], "limit": MOST_ROWS}
    read = [
        read_recipes(steps, 0, wanted.filters, likely),
        read_stock(steps, 0, likely),
        read_profile(steps, 0),
        steps.read("Read what is planned already", 0, table="meal_plans", **occupied),
    ]
    told = _told(wanted)
    draft = steps.generate(told, "meal_plans", 1, "meal_plan", read, **_arguments(wanted))
    if situation.asked.mode in ("plan", "create"):
        bought = [*read[:2], draft]
        steps.analyze("See what is missing for it", "shopping", 2, "aggregate_shopping", bought)
        steps.write("Save the plan", 3, op="upsert", table="meal_plans", from_content=draft)
    return steps.done(told, assumptions)


def _told(wanted: _Wanted) -> str:
    days = wanted.days
    if wanted.replaces:
        return f"Plan another {wanted.meals[0]} for {days.dates[0]}: {wanted.wishes[days.dates[0]]}"
    named = " and ".join(f"{meal}s" for meal in wanted.meals)
    return f"Plan {named} from {days.dates[0]} to {days.dates[-1]}"


def _arguments(wanted: _Wanted) -> dict[str, Any]:
    """Return what the plan is drafted by; only what was said."""
    days = wanted.days
    said: dict[str, Any] = {
        "start": days.dates[0], "end": days.dates[-1], "meals": list(wanted.meals)
    }  # fmt: skip
    if wanted.count is not None:
        said["count"] = int(wanted.count)
    optional = {
        "diets": list(wanted.diets), "without": list(wanted.without),
        "wishes": dict(wanted.wishes), "replaces": wanted.replaces,
    }  # fmt: skip
    return said | {name: value for name, value in optional.items() if value}


def _usual_days(situation: Situation, what: str, profile: Row) -> Days:
    """Return the days that are meant when none is named."""
    today = situation.today.day
    if what.casefold() == "month":
        return Days(today, today + timedelta(days=29))
    return Days(*planning_range(profile, today))


def _meals(text: str) -> tuple[str, ...]:
    found = [kinds("meals")[w] for w in re.findall(r"\w+", text.casefold()) if w in kinds("meals")]
    return tuple(dict.fromkeys(found)) or ("dinner",)


def _count(text: str) -> float | None:
    found = None
    for each in _FORMS["count"].finditer(text):
        found = each
    return None if found is None else read_count(found["count"] or found["just"])

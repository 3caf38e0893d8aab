"""The profile: what prompts are told of somebody, and what follows from it in the kitchen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.domain_parts import Detail, ProfileView
from callboard.packs.alfred.kitchen.food.checking import Eater

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable

COOKED_SHOWN: Final = 10
_OF_SUBDOMAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "recipes": ("recipe_storage", "recipe_generation", "skill_level"),
    "meal_plans": ("cooking_frequency", "batch_cooking", "cooking_days"),
    "tasks": ("task_granularity",),
    "shopping": ("list_organization",),
    "inventory": (),
    "preferences": (),
    "cooking_log": ("skill_level",),
}
_COMPACT: Final = ("dislikes", "household_size", "planning_horizon", "unit_system")
_FULL: Final = (
    *_COMPACT,
    "cooking_frequency",
    "cooking_days",
    "batch_cooking",
    "recipe_storage",
    "recipe_generation",
    "task_granularity",
    "list_organization",
    "skill_level",
    "week_start",
)
_CREATIVE: Final = (*_FULL, "favorite_cuisines", "equipment")


@dataclass(frozen=True, slots=True)
class UserProfile:
    """What is known about somebody."""

    user_id: str
    values: Mapping[str, Any]
    # What they cooked last, the newest first.
    cooked: tuple[str, ...] = ()

    @property
    def eater(self) -> Eater:
        """What they must not and do not eat."""
        return Eater.of(self.values)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever asked or told: then it is as it was made, all defaults."""
        return int(self.values.get("version") or 1) == 1

    def __getitem__(self, name: str) -> Any:
        """Return one of its values."""
        return self.values[name]


def load_profile(connection: "Connection", user_id: str) -> UserProfile:
    """Return somebody's profile; who has none has an empty one."""
    mine = {"user_id": user_id}
    row = connection.execute(_profile(), mine).mappings().first()
    cooked = connection.execute(_cooked(), mine)
    names = tuple(str(each[0]) for each in cooked)
    return UserProfile(user_id, dict(row) if row is not None else dict(_DEFAULTS), names)


# Asked with every message, so made only once.
@cache
def _profile() -> "Executable":
    from sqlalchemy import bindparam, select

    from callboard.packs.alfred.kitchen.schema.tables import user_profile

    return select(user_profile).where(user_profile.c.user_id == bindparam("user_id"))


@cache
def _cooked() -> "Executable":
    from sqlalchemy import bindparam, select

    from callboard.packs.alfred.kitchen.schema.tables import cooking_log

    return (
        select(cooking_log.c.recipe_name)
        .where(cooking_log.c.user_id == bindparam("user_id"))
        .order_by(cooking_log.c.cooked_at.desc(), cooking_log.c.id.desc())
        .limit(COOKED_SHOWN)
    )


def profile_view(profile: UserProfile, detail: Detail, subdomain: str = "") -> ProfileView:
    """Return a profile as prompts are told it; allergies and diet are always there."""
    shown: Sequence[str] = ()
    if detail == "compact":
        shown = (*_COMPACT, *_OF_SUBDOMAIN.get(subdomain, ()))
    elif detail == "full":
        shown = _FULL
    elif detail == "creative":
        shown = _CREATIVE
    lines = [
        f"{name.replace('_', ' ')}: {said}"
        for name in dict.fromkeys(shown)
        if (said := _said(profile.values.get(name)))
    ]
    if detail == "creative" and profile.cooked:
        lines.append(f"cooked lately: {', '.join(profile.cooked)}")
    return ProfileView("\n".join(lines), pinned_text(profile), profile.is_empty)


def pinned_text(profile: UserProfile) -> str:
    """Return what no prompt may leave out."""
    eater = Eater.of(profile.values)
    allergies = _said(eater.allergies) or "none known"
    diet = _said(profile.values.get("diet")) or "no restrictions"
    filed = [str(each) for each in profile.values.get("eaters") or ()]
    meant = [each.line() for each in eater.limits if each.who]
    others = "; ".join(dict.fromkeys([*filed, *meant]))
    told = f"Allergies (never use these): {allergies}\nDiet: {diet}"
    return f"{told}\nOthers who eat along: {others}" if others else told


def _said(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            listed: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            return ", ".join(str(each).replace("_", " ") for each in listed)
        case _:
            return str(value).replace("_", " ")


_DEFAULTS: Final[Mapping[str, Any]] = {
    "default_mode": None,
    "cooking_frequency": "3x_week",
    "batch_cooking": False,
    "planning_horizon": "week",
    "recipe_storage": "full",
    "recipe_generation": "detailed",
    "task_granularity": "reminders",
    "list_organization": "by_category",
    "diet": [],
    "allergies": [],
    "dislikes": [],
    "eaters": [],
    "favorite_cuisines": [],
    "equipment": [],
    "household_size": 2,
    "skill_level": "intermediate",
    "unit_system": "metric",
    "week_start": "mon",
    "cooking_days": [],
    "onboarding_state": [],
}


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

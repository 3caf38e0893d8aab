"""Profiles as values, and as prompts are told them, in four levels of detail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.domain import Detail, ProfileView
from callboard.packs.alfred.kitchen.safety.checking import Eater

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

    from callboard.packs.alfred.kitchen.schema.people import user_profile

    return select(user_profile).where(user_profile.c.user_id == bindparam("user_id"))


@cache
def _cooked() -> "Executable":
    from sqlalchemy import bindparam, select

    from callboard.packs.alfred.kitchen.schema.plans import cooking_log

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
    allergies = _said(profile.values.get("allergies")) or "none known"
    diet = _said(profile.values.get("diet")) or "no restrictions"
    return f"Allergies (never use these): {allergies}\nDiet: {diet}"


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
    "favorite_cuisines": [],
    "equipment": [],
    "household_size": 2,
    "skill_level": "intermediate",
    "unit_system": "metric",
    "week_start": "mon",
    "cooking_days": [],
    "onboarding_state": [],
}

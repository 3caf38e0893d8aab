"""Targets: what "to my shopping list" or "in the freezer" means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.packs.alfred.kitchen.router.situation import among, present
from callboard.packs.alfred.kitchen.router.words.lexicon import any_of, kinds

OPEN: Final = ("needed", "in_cart")
OF_OURS: Final = r"(?:(?:my|the|our|this week's|that)\s+)?"
PLACE: Final = any_of("places")
LIST: Final = any_of("lists")
TASK_LIST: Final = any_of("todos")
TARGET: Final = rf"(?:{LIST}|{PLACE}|{TASK_LIST})"
_TO: Final = r"(?:to|in|into|on|onto|at|off|from|out of|off of)"
BEHIND: Final = re.compile(
    rf"^(?P<items>.+?)\s+{_TO}\s+{OF_OURS}(?P<target>{TARGET})$", re.I | re.S
)
INTO: Final = re.compile(rf"\s(?:to|in|into|on|onto)\s+{OF_OURS}{TARGET}$", re.IGNORECASE)
_PLACED: Final = re.compile(
    rf"\s+{_TO}\s+{OF_OURS}(?P<target>{TARGET})(?=$|\s*[,;]|\s+(?:and|plus|&)\s)", re.I
)
_AHEAD: Final = re.compile(
    rf"^{_TO}\s+{OF_OURS}(?P<target>{TARGET})(?:\s*[:,]\s*|\s+)"
    r"(?:(?:there(?:'s| is| are)|we have|i have)\s+)?(?P<items>.+)$",
    re.I | re.S,
)
_JOINT: Final = re.compile(r"^(?:\s*(?:[,;&]|\band\b|\bplus\b))+\s*", re.IGNORECASE)
WHOLE: Final = re.compile(rf"^{OF_OURS}(?:whole |entire )?(?P<target>{TARGET})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """A list or a place things are in."""

    table: str
    subdomain: str
    name_field: str
    title: str
    place: str = ""

    @property
    def scope(self) -> list[dict[str, Any]]:
        """The conditions that hold for everything in it."""
        if self.table == "shopping_items":
            return [among("status", OPEN)]
        if self.table == "tasks":
            return [among("status", ["open"])]
        if self.place:
            return [{"field": "location", "op": "eq", "value": self.place}]
        return []

    @property
    def everything(self) -> list[dict[str, Any]]:
        """The conditions that hold for everything in it, and are never empty."""
        return self.scope or [present("location")]


SHOPPING: Final = Target("shopping_items", "shopping", "name", "shopping list")
INVENTORY: Final = Target("inventory_items", "inventory", "ingredient.name", "inventory")
TASKS: Final = Target("tasks", "tasks", "description", "tasks")


def find_target(word: str) -> Target:
    """Return what a word stands for; it is one that an expression here has matched."""
    folded = re.sub(r"\s+", " ", word.casefold())
    place = kinds("places").get(folded)
    if place is not None:
        return in_place(place)
    return TASKS if re.fullmatch(TASK_LIST, folded) else SHOPPING


def targeted(text: str) -> list[tuple[str, Target]]:
    """Return things with where they are or go; nothing if no place is named.

    A place is said for all that stands before it. What comes after the last one is on the same
    list, or anywhere in the house.
    """
    ahead = _AHEAD.match(text)
    if ahead is not None and _PLACED.search(ahead["items"]) is None:
        return [(ahead["items"], find_target(ahead["target"]))]
    parts: list[tuple[str, Target]] = []
    start = 0
    for found in _PLACED.finditer(text):
        items = _JOINT.sub("", text[start : found.start()]).strip()
        if not items:
            return []
        parts.append((items, find_target(found["target"])))
        start = found.end()
    rest = _JOINT.sub("", text[start:]).strip()
    if parts and rest:
        parts.append((rest, INVENTORY if parts[-1][1].place else parts[-1][1]))
    return parts


def in_place(place: str) -> Target:
    """Return a place at home, or the house as a whole."""
    if not place:
        return INVENTORY
    return Target("inventory_items", "inventory", "ingredient.name", place, place)


def names(titles: Sequence[str]) -> str:
    """Return some names as a sentence has them."""
    if len(titles) <= 1:
        return "".join(titles)
    return f"{', '.join(titles[:-1])} and {titles[-1]}"

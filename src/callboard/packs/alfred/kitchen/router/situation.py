"""A message in its situation: who says it, when, and how to look something up. Reads only."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from callboard.choreography.turn.domain import AskedMessage, Routed, Row
from callboard.choreography.turn.requests import ReadRequest, ReadResult, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.library.relational.dates import Today
from callboard.packs.alfred.kitchen.hearing.speech import tidy
from callboard.packs.alfred.kitchen.router.words import OF_OURS, TARGET, TASK_LIST, kinds

Read = Callable[[ReadRequest], Awaitable[ReadResult]]
_SUBDOMAINS: Final = {
    "cooking_log": "cooking_log", "inventory_items": "inventory", "meal_plans": "meal_plans",
    "recipes": "recipes", "shopping_items": "shopping", "tasks": "tasks",
    "user_profile": "preferences",
}  # fmt: skip


@dataclass
class Steps:
    """Steps as they are put together; ids are known at once, so that later ones can name them."""

    first_group: int = 0
    made: list[ThinkStep] = field(default_factory=list[ThinkStep])

    def read(self, what: str, group: int = 0, **query: Any) -> str:
        """Add a read and return its id."""
        request = ReadRequest.model_validate(query)
        return self._add(what, StepType.READ, _SUBDOMAINS[request.table], group, query=request)

    def write(self, what: str, group: int = 0, **request: Any) -> str:
        """Add a write and return its id."""
        write = WriteRequest.model_validate(request)
        return self._add(what, StepType.WRITE, _SUBDOMAINS[write.table], group, write=write)

    def analyze(
        self,
        what: str,
        subdomain: str,
        group: int,
        compute: str,
        inputs: Sequence[str],
        **arguments: Any,
    ) -> str:
        """Add arithmetic over the results of other steps, and return its id."""
        details = {"compute": compute, "inputs": list(inputs), "arguments": arguments}
        return self._add(what, StepType.ANALYZE, subdomain, group, **details)

    def generate(
        self,
        what: str,
        subdomain: str,
        group: int,
        content: str,
        inputs: Sequence[str],
        **arguments: Any,
    ) -> str:
        """Add something that is to be made up, and return its id."""
        details = {"content_type": content, "inputs": list(inputs), "arguments": arguments}
        return self._add(what, StepType.GENERATE, subdomain, group, **details)

    def done(self, goal: str = "", assumptions: Sequence[str] = (), **more: Any) -> Routed:
        """Return them as what a message asks for; without a goal they tell it themselves."""
        told = goal or "; ".join(each.description for each in self.made)
        return Routed(steps=tuple(self.made), goal=told, assumptions=tuple(assumptions), **more)

    def _add(self, what: str, kind: StepType, subdomain: str, group: int, **details: Any) -> str:
        at = self.first_group + group
        index = sum(1 for step in self.made if step.group == at)
        step_id = f"g{at}.s{index}"
        step = ThinkStep(
            id=step_id,
            description=what[:200],
            step_type=kind,
            subdomain=subdomain,
            group=at,
            **details,
        )
        self.made.append(step)
        return step_id


@dataclass(frozen=True, slots=True)
class Likely:
    """What matters of a kitchen too big to be read whole: the best recipes, and their food."""

    recipe_ids: tuple[str, ...]
    ingredient_ids: tuple[str, ...]


async def _all_of_it(_constraints: Sequence[str] = ()) -> Likely | None:
    return None


async def _unminded(rows: Sequence[Row]) -> Sequence[Row]:
    return rows


async def _no_stove(_said: str) -> Routed | None:
    return Routed(reply="Nothing is on the stove. Say what you are making: “I'm making shakshuka”.")


@dataclass(frozen=True, slots=True)
class Situation:
    """A message, who said it, and what can be looked up about it."""

    asked: AskedMessage
    # The message without what is only polite.
    text: str
    today: Today
    read: Read
    first_group: int = 0
    # What fits some constraints as well; None as long as the kitchen can be read whole.
    likely: Callable[[Sequence[str]], Awaitable[Likely | None]] = _all_of_it
    # Recipes with why somebody in the house must not eat them.
    minded: Callable[[Sequence[Row]], Awaitable[Sequence[Row]]] = _unminded
    # What is said at the stove, in the words that are understood there.
    at_stove: Callable[[str], Awaitable[Routed | None]] = _no_stove

    @property
    def steps(self) -> Steps:
        """A new row of steps."""
        return Steps(self.first_group)

    def saying(self, text: str, first_group: int) -> "Situation":
        """Return the same situation for a part of the message."""
        return replace(self, text=tidy(text), first_group=first_group)

    def reading(self, what: str, **query: Any) -> Routed:
        """Return one read as all that is asked for."""
        steps = self.steps
        steps.read(what, **query)
        return steps.done(what)

    def writing(self, what: str, assumptions: Sequence[str] = (), **request: Any) -> Routed:
        """Return one write as all that is asked for."""
        steps = self.steps
        steps.write(what, **request)
        return steps.done(what, assumptions)

    async def profile(self) -> Row:
        """Look up what is known about whoever says it."""
        return next(iter(await self.rows(table="user_profile", limit=1)), dict[str, Any]())

    async def rows(self, **query: Any) -> Sequence[Row]:
        """Look something up."""
        return (await self.read(ReadRequest.model_validate(query))).rows


def same(field_name: str, value: Any) -> dict[str, Any]:
    """Return the condition that a field holds a value."""
    return {"field": field_name, "op": "eq", "value": value}


def among(field_name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the condition that a field holds one of some values."""
    return {"field": field_name, "op": "in", "value": list(values)}


def between(field_name: str, first: str, last: str) -> dict[str, Any]:
    """Return the condition that a field holds something from one value to another."""
    return {"field": field_name, "op": "between", "value": [first, last]}


def present(field_name: str) -> dict[str, Any]:
    """Return the condition that a field holds anything."""
    return {"not": {"field": field_name, "op": "is", "value": None}}


MOST_ROWS: Final = 200


def read_recipes(
    steps: Steps, group: int, filters: Sequence[dict[str, Any]], likely: Likely | None = None
) -> str:
    """Add a read of recipes, of the most likely ones if there are too many."""
    chosen = [*filters] if likely is None else [*filters, among("id", likely.recipe_ids)]
    return steps.read(
        "Read the recipes", group, table="recipes", filters=chosen,
        include=["ingredients", "tags"], limit=MOST_ROWS,
    )  # fmt: skip


def read_recipe(steps: Steps, group: int, wanted: dict[str, Any]) -> str:
    """Add a read of one recipe with what goes into it."""
    details = {"filters": [wanted], "include": ["ingredients"]}
    return steps.read("Read the recipe", group, table="recipes", **details)


def read_stock(steps: Steps, group: int, likely: Likely | None = None) -> str:
    """Add a read of what is in the house."""
    filters = [] if likely is None else [among("ingredient_id", likely.ingredient_ids)]
    return steps.read(
        "Read what is in the house", group, table="inventory_items", filters=filters,
        include=["ingredient"], limit=MOST_ROWS,
    )  # fmt: skip


def read_profile(steps: Steps, group: int) -> str:
    """Add a read of who eats."""
    return steps.read("Read the preferences", group, table="user_profile")


OPEN: Final = ("needed", "in_cart")
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
class StockTarget:
    """A list or a place things are in."""

    table: str
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


SHOPPING: Final = StockTarget("shopping_items", "name", "shopping list")
INVENTORY: Final = StockTarget("inventory_items", "ingredient.name", "inventory")
TASKS: Final = StockTarget("tasks", "description", "tasks")


def find_target(word: str) -> StockTarget:
    """Return what a word stands for; it is one that an expression here has matched."""
    folded = re.sub(r"\s+", " ", word.casefold())
    place = kinds("places").get(folded)
    if place is not None:
        return in_place(place)
    return TASKS if re.fullmatch(TASK_LIST, folded) else SHOPPING


def targeted(text: str) -> list[tuple[str, StockTarget]]:
    """Return things with where they are or go; nothing if no place is named.

    A place is said for all that stands before it. What comes after the last one is on the same
    list, or anywhere in the house.
    """
    ahead = _AHEAD.match(text)
    if ahead is not None and _PLACED.search(ahead["items"]) is None:
        return [(ahead["items"], find_target(ahead["target"]))]
    parts: list[tuple[str, StockTarget]] = []
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


def in_place(place: str) -> StockTarget:
    """Return a place at home, or the house as a whole."""
    if not place:
        return INVENTORY
    return StockTarget("inventory_items", "ingredient.name", place, place)


def names(titles: Sequence[str]) -> str:
    """Return some names as a sentence has them."""
    if len(titles) <= 1:
        return "".join(titles)
    return f"{', '.join(titles[:-1])} and {titles[-1]}"

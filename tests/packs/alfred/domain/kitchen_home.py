"""A household's kitchen with a few known rows, in a real file, on a Wednesday in Berlin."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from callboard.choreography.turn.domain import AskedMessage, Routed, Who
from callboard.choreography.turn.requests import (
    ReadRequest,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.packs.alfred.kitchen.domain import Kitchen
from callboard.packs.alfred.kitchen.opening import add_person, kitchen_url, open_kitchen
from warm_kitchen import lay_kitchen

NOW_MS = 1_779_265_800_000
AT = "2026-05-20T08:30:00.000000Z"
ANN = Who("ann", "sess-1", "Europe/Berlin")
BOB = Who("bob", "sess-2", "Europe/Berlin")

RECIPES: list[dict[str, Any]] = [
    {
        "name": "Butter Chicken",
        "cuisine": "indian",
        "course": "main",
        "servings": 2,
        "prep_minutes": 10,
        "cook_minutes": 30,
        "ingredients": [
            {"ingredient": "chicken thigh", "quantity": 400, "unit": "g"},
            {"ingredient": "butter", "quantity": 50, "unit": "g"},
            {"ingredient": "cream", "quantity": 200, "unit": "ml"},
        ],
        "steps": ["Brown the chicken.", "Add butter and cream.", "Simmer."],
        "tags": ["curry"],
    },
    {
        "name": "Lentil Soup",
        "course": "main",
        "servings": 4,
        "prep_minutes": 5,
        "cook_minutes": 20,
        "ingredients": [
            {"ingredient": "red lentils", "quantity": 250, "unit": "g"},
            {"ingredient": "onion", "quantity": 1},
        ],
        "steps": ["Boil everything."],
        "tags": ["vegan", "soup"],
    },
    {
        "name": "Almond Chicken",
        "course": "main",
        "servings": 2,
        "ingredients": [
            {"ingredient": "chicken thigh", "quantity": 300, "unit": "g"},
            {"ingredient": "ground almonds", "quantity": 50, "unit": "g"},
        ],
        "steps": ["Bake."],
    },
    {
        "name": "Tomato Pasta",
        "cuisine": "italian",
        "course": "main",
        "servings": 2,
        "prep_minutes": 5,
        "cook_minutes": 15,
        "ingredients": [
            {"ingredient": "pasta", "quantity": 200, "unit": "g"},
            {"ingredient": "tomato", "quantity": 3},
        ],
        "steps": ["Boil.", "Toss."],
        "tags": ["vegan", "quick"],
    },
]
STOCK: list[dict[str, Any]] = [
    {"ingredient": "butter", "quantity": 250, "unit": "g", "location": "fridge"},
    {"ingredient": "chicken thigh", "quantity": 1, "unit": "kg", "expires_on": "2026-05-21"},
    {"ingredient": "red lentils", "quantity": 100, "unit": "g", "location": "pantry"},
    {"ingredient": "milk", "quantity": 1, "unit": "l", "location": "fridge"},
    {"ingredient": "egg", "quantity": 6, "location": "fridge"},
]


@dataclass
class Clock:
    """A clock that stands still."""

    ms: int = NOW_MS

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@dataclass
class Home:
    """Somebody in their kitchen: routes, reads and writes as the turn would."""

    kitchen: Kitchen
    who: Who = ANN
    turns: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    async def route(self, message: str, mode: str = "quick", *referenced: str) -> Routed | None:
        return await self.kitchen.route(AskedMessage(message, mode, self.who, referenced))

    async def rows(self, table: str, **query: Any) -> list[dict[str, Any]]:
        wanted = ReadRequest.model_validate({"table": table, "limit": 200, **query})
        return (await self.kitchen.read(self.who, wanted)).rows

    async def write(self, confirmed: WritePreview | None = None, **request: Any) -> WriteResult:
        wanted = WriteRequest.model_validate(request)
        return await self.do(wanted, confirmed)

    async def do(self, request: WriteRequest, confirmed: WritePreview | None = None) -> WriteResult:
        key = WriteKey(session_id=self.who.session_id, turn=next(self.turns), step_id="g0.s0")
        return await self.kitchen.write(self.who, request, key, confirmed)

    async def say(self, message: str, mode: str = "quick") -> list[Any]:
        """Do what a message is routed to, step by step; reads and writes only."""
        routed = await self.route(message, mode)
        assert routed is not None, message
        results: list[Any] = []
        for step in routed.steps:
            if step.query is not None:
                results.append((await self.kitchen.read(self.who, step.query)).rows)
            elif step.write is not None:
                results.append(await self.do(step.write))
        return results


def open_home(folder: Path, url: str | None = None) -> Home:
    """Return a kitchen with two people in it."""
    numbers = itertools.count(1)
    base = open_kitchen(url or kitchen_url(lay_kitchen(folder)))
    kitchen = Kitchen(base, Clock(), lambda: f"id-{next(numbers)}")
    for name in ("ann", "bob"):
        base.write_now(lambda c, n=name: add_person(c, n, n.title(), AT, "Europe/Berlin"))
    return Home(kitchen)


@pytest.fixture
def empty_home(tmp_path: Path) -> Iterator[Home]:
    home = open_home(tmp_path)
    yield home
    home.kitchen.close()


@pytest.fixture
async def home(empty_home: Home) -> Home:
    await empty_home.write(op="create", table="recipes", records=RECIPES)
    await empty_home.write(op="upsert", table="inventory_items", records=STOCK)
    return empty_home


def leaves_it(routed: Routed | None) -> bool:
    """Say whether code leaves a message to a model, if there is one that understands more."""
    if routed is None:
        return True
    return routed.weak and not any(step.write for step in routed.steps)

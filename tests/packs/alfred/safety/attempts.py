"""Attempts to get an allergen past the kitchen: each is made at every door, and what came is told.

The attempts were written by somebody who has not read the code; each household is a person of its
own in one kitchen, with the allergy on file.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import ReadRequest, WriteError, WriteRequest
from callboard.models import Line, ModelRequest, Script
from callboard.packs.alfred.exchange import import_recipes
from callboard.packs.alfred.project import KitchenProject
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from warm_kitchen import furnish

HERE = Path(__file__).parent
ASKED, WARNED, NOTHING, SILENT = "asked", "warned", "nothing done", "silent"
WARNINGS = ("holds ", "not known", "reads like", "allergy")
DAY = "2026-05-21"
# All that comes of these is a thing on the list that holds no allergen; the rest is left aside.
HARMLESS_SAID = (
    "we're out of oat milk, use the normal one",
    "buy marg, and if they have none get butter",
)
SAID = (
    "I'm making {} for 2",
    "scale {} to 8",
    "plan {} for Thursday",
    "add what's missing for {} to the shopping list",
)
SMALL = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
PACK = Path(__file__).resolve().parents[4] / "src" / "callboard" / "packs" / "alfred"


def _pick_last(request: ModelRequest) -> Line:
    properties: Any = (request.json_schema or {}).get("properties", {})
    return Line(json={name: each["enum"][-1] for name, each in properties.items()})


@asynccontextmanager
async def open_alfred(root: Path) -> AsyncIterator[KitchenProject]:
    """Open a kitchen whose model only ever picks what is offered."""
    furnish(Project.init(root))
    script = {"script": Script(_pick_last)}
    opening = Opening(packs=(load_pack(PACK),), providers=script, flags=SMALL)
    async with Studio.open(root, opening) as studio:
        yield KitchenProject(studio)


def read_lines(name: str) -> list[dict[str, Any]]:
    """Return the trials of a file."""
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@dataclass
class Tally:
    """What came of attempts, by door."""

    dangerous: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    harmless: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    passed: list[str] = field(default_factory=list[str])
    alarmed: list[str] = field(default_factory=list[str])

    def note(self, attempt: dict[str, Any], door: str, came: str) -> None:
        by_door = self.dangerous if attempt["dangerous"] else self.harmless
        by_door.setdefault(door, Counter())[came] += 1
        told = (
            f"{door}: {attempt['allergy']} in {attempt['recipe']['title']!r} ({attempt['message']})"
        )
        if attempt["dangerous"] and came == SILENT:
            self.passed.append(told)
        if not attempt["dangerous"] and came in (ASKED, WARNED):
            self.alarmed.append(told)

    def table(self) -> str:
        heads = ("door", "dangerous", "asked or refused", "shown with a warning", "nothing done")
        heads = (*heads, "in silence", "harmless", "alarmed")
        rows = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for door, came in self.dangerous.items():
            other = self.harmless.get(door, Counter())
            rows.append(
                f"| {door} | {came.total()} | {came[ASKED]} | {came[WARNED]} | {came[NOTHING]} "
                f"| {came[SILENT]} | {other.total()} | {other[ASKED] + other[WARNED]} |"
            )
        return "\n".join(rows)


class House:
    """One household of an attempt, in a kitchen that many share."""

    def __init__(self, alfred: KitchenProject, user: str, attempt: dict[str, Any]) -> None:
        self.alfred = alfred
        self.user = user
        self.attempt = attempt
        recipe = attempt["recipe"]
        self.record: dict[str, Any] = {
            "name": recipe["title"],
            "servings": 2,
            "ingredients": [{"raw_text": line} for line in recipe["lines"]],
            "steps": list(recipe.get("steps") or []),
        }

    @property
    def who(self) -> Who:
        return self.alfred.who(self.user)

    async def make_all(self, tally: Tally, said: tuple[str, ...] = SAID) -> None:
        """Make the attempt at every door; besides its own words, some of the usual are said."""
        await self.alfred.add_person(self.user, self.user)
        await self._store_linked()
        await self.alfred.set_profile(self.who, {"allergies": [self.attempt["allergy"]]})
        is_said = self.attempt["where"] == "message"
        if not is_said:
            tally.note(self.attempt, "write a recipe", await self._write("recipes", self.record))
            tally.note(self.attempt, "import a recipe", await self._import())
        await self._store()
        if not is_said:
            for door, table, record in (
                (
                    "plan it by hand",
                    "meal_plans",
                    {"plan_date": DAY, "recipe": self.record["name"]},
                ),
                ("read it to cook by", "", {}),
            ):
                came = await (self._write(table, record) if table else self._read())
                tally.note(self.attempt, door, came)
        tally.note(self.attempt, "say it", await self._say(self.attempt["message"]))
        for words in () if is_said else said:
            came = await self._say(words.format(self.record["name"]))
            tally.note(self.attempt, words.format("…"), came)

    async def _write(self, table: str, record: dict[str, Any]) -> str:
        request = WriteRequest.model_validate({"op": "create", "table": table, "records": [record]})
        try:
            preview = await self.alfred.kitchen.preview(self.who, request)
            if not preview.needs_confirmation:
                return SILENT
            await self.alfred.write(self.who, request)
        except WriteError as error:
            return ASKED if error.kind == "needs_confirmation" else NOTHING
        return SILENT

    async def _import(self) -> str:
        lines = "\n".join(f"- {line}" for line in self.attempt["recipe"]["lines"])
        steps = "\n".join(f"{n}. {text}" for n, text in enumerate(self.record["steps"], 1))
        parts = (f"# {self.record['name']} again", "## Ingredients", lines, "## Directions", steps)
        text = "\n\n".join(parts)
        taken = await import_recipes(self.alfred, self.who, text, "markdown")
        return ASKED if taken.refused else SILENT if taken.written else NOTHING

    async def _store(self) -> None:
        request = WriteRequest.model_validate(
            {"op": "create", "table": "recipes", "records": [self.record]}
        )
        await self.alfred.write_anyway(self.who, request)

    async def _store_linked(self) -> None:
        linked = self.attempt["recipe"].get("links_to")
        if linked:
            holds = self.attempt["allergy"] if self.attempt["dangerous"] else "water"
            record = {"name": linked, "ingredients": [{"raw_text": holds}]}
            request = WriteRequest.model_validate(
                {"op": "create", "table": "recipes", "records": [record]}
            )
            await self.alfred.write(self.who, request)

    async def _read(self) -> str:
        named = {"field": "name", "op": "eq", "value": self.record["name"]}
        request = ReadRequest.model_validate({"table": "recipes", "filters": [named]})
        (row,) = (await self.alfred.kitchen.read(self.who, request)).rows
        return WARNED if row.get("mind") else SILENT

    async def _say(self, message: str) -> str:
        session = await self.alfred.new_session(self.user)
        before = await self._changes()
        outcome = await self.alfred.send(
            message, session_id=session, user_id=self.user, mode="quick"
        )
        if outcome.action in ("clarify", "propose"):
            return ASKED if _warns(outcome.message) else NOTHING
        if _warns(outcome.message):
            return WARNED
        lines = [line for line in self.attempt["recipe"]["lines"] if line in outcome.message]
        is_shown = self.record["name"] in outcome.message and len(lines) > 1
        is_cooked = self.alfred.cooking(session) is not None
        is_changed = await self._changes() != before and message not in HARMLESS_SAID
        is_done = is_shown or is_cooked or is_changed
        return SILENT if is_done else NOTHING

    async def _changes(self) -> int:
        from sqlalchemy import func, select

        log = self.alfred.kitchen.log.changes
        food = ("recipes", "recipe_ingredients", "meal_plans", "shopping_items", "cooking_log")
        query = select(func.count()).where(log.c.user_id == self.user, log.c.table_name.in_(food))
        return await self.alfred.kitchen.base.read(lambda c: int(c.execute(query).scalar_one()))


def _warns(message: str) -> bool:
    return any(each in message for each in WARNINGS)


async def attempt_all(
    alfred: KitchenProject, attempts: list[dict[str, Any]], *, in_turn: bool = False
) -> Tally:
    """Make every attempt at every door; `in_turn` says only one of the usual words with each."""
    tally = Tally()
    for number, attempt in enumerate(attempts):
        said = (SAID[number % len(SAID)],) if in_turn else SAID
        await House(alfred, f"house{number}", attempt).make_all(tally, said)
    return tally

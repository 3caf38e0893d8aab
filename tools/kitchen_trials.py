"""Score Alfred on trials written by somebody who has not read its code.

    python tools/kitchen_trials.py talk FOLDER/kitchen_talk.jsonl [--show wrong|asked|right]
    python tools/kitchen_trials.py recipes FOLDER/recipes [--show]

`talk`: every sentence is said in a kitchen of its own making (what it takes for granted is there:
the food that is used up, the list, the recipe), to a model of the small tier that picks the last of
what is offered. What changed in the database decides: *right* if it is what was expected, *asked*
if nothing changed and Alfred asks or says what it can do, *wrong* if something else happened.

`recipes`: every recipe is read; servings, lists and lines are compared with what is expected.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.choreography.turn.requests import ReadRequest, WriteRequest
from callboard.core.errors import CallboardError
from callboard.knowledge.entities.matching import name_key
from callboard.models import Line, ModelRequest, Script
from callboard.packs.alfred.kitchen.compute.amounts import convert, read_amount
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file
from callboard.packs.alfred.kitchen.recipes.reading.limits import RecipeUnreadable
from callboard.packs.alfred.project import KitchenProject, project_of
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

FLAGS: Mapping[str, Any] = {
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}},
    "pack": "alfred",
}
TABLES = ("inventory_items", "shopping_items", "meal_plans", "recipes", "tasks", "cooking_log",
          "user_profile")  # fmt: skip
COMPARED = ("quantity", "unit", "status", "location", "expires_on", "servings", "rating", "note",
            "plan_date", "recipe_id", "allergies", "diet", "dislikes", "description")  # fmt: skip
VERDICTS = ("right", "asked", "wrong")
# What a sentence may write, by what is expected of it.
ALLOWED: Mapping[str, set[str]] = {
    "add_stock": {"inventory_items", "shopping_items"},
    "use_stock": {"inventory_items", "shopping_items"},
    "add_list": {"shopping_items"},
    "remove_list": {"shopping_items"},
    "plan_meal": {"meal_plans"},
    "cook": {"cooking_log", "inventory_items"},
    "correction": {"shopping_items", "inventory_items"},
    "other": {"inventory_items", "recipes", "tasks"},
    "allergy": {"user_profile"},
}
NOT_UNDERSTOOD = re.compile(
    r"could not tell|cannot tell|Nothing is saved|Not done|You have no recipe|"
    r"Nothing is on the stove|Noted nothing|Which one|What are you making",
    re.I,
)
SOUP = {
    "name": "Lentil Soup",
    "servings": 4,
    "ingredients": [{"ingredient": "red lentils", "quantity": 200, "unit": "g"}],
    "steps": ["Wash the lentils.", "Boil them.", "Season.", "Blend.", "Serve."],
}


def pick_last(request: ModelRequest) -> Line:
    """Answer every choice with its last option, as a small model might."""
    properties: Any = (request.json_schema or {}).get("properties", {})
    return Line(
        json={name: each["enum"][-1] for name, each in properties.items() if "enum" in each}
    )


@dataclass
class Trial:
    """One sentence and what came of it."""

    case: dict[str, Any]
    message: str = ""
    action: str = ""
    before: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    after: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    position: tuple[int, int] = (0, 0)

    @property
    def wrote(self) -> set[str]:
        """The tables in which something changed."""
        return {table for table in TABLES if self.before[table] != self.after[table]}

    @property
    def asked(self) -> bool:
        """Whether Alfred asks, or says that it did not understand."""
        return self.action != "respond" or NOT_UNDERSTOOD.search(self.message) is not None

    def gained(self, table: str) -> dict[str, Any]:
        """Return rows that came or whose amount grew or was set."""
        before, after = self.before[table], self.after[table]
        return {key: row for key, row in after.items() if before.get(key) != row}

    def lost(self, table: str) -> dict[str, Any]:
        """Return rows that went or changed."""
        before, after = self.before[table], self.after[table]
        return {key: row for key, row in before.items() if after.get(key) != row}


class Kitchen:
    """A kitchen in which trials are made, one after the other."""

    def __init__(self, alfred: KitchenProject) -> None:
        self.alfred = alfred
        self.who = alfred.who()

    async def say(self, session: str, message: str, mode: str | None = None) -> Any:
        """Say something in a conversation and return what came of it."""
        return await self.alfred.send(message, session_id=session, mode=mode)

    async def rows(self, table: str) -> dict[str, dict[str, Any]]:
        """Return what a table holds, by row; of the list, what is still to be bought."""
        include = ["ingredient"] if table in ("inventory_items", "shopping_items") else []
        request = ReadRequest.model_validate({"table": table, "limit": 200, "include": include})
        found: dict[str, dict[str, Any]] = {}
        for row in (await self.alfred.kitchen.read(self.who, request)).rows:
            inner: dict[str, Any] = row.get("ingredient") or {}
            name = row.get("name") or inner.get("name") or row.get("recipe_name") or ""
            told = {each: row[each] for each in COMPARED if row.get(each) is not None}
            found[str(row.get("id", table))] = {"name": str(name), **told}
        if table == "shopping_items":
            found = {k: v for k, v in found.items() if v.get("status") != "purchased"}
        return found

    async def add(self, table: str, *records: dict[str, Any]) -> None:
        """Put records into a table."""
        request = {"op": "upsert", "table": table, "records": list(records)}
        await self.alfred.write(self.who, WriteRequest.model_validate(request))

    async def clear(self) -> None:
        """Empty what a sentence may have filled; the profile and the cooking log stay."""
        for table in ("meal_plans", "shopping_items", "inventory_items", "tasks", "recipes"):
            for row_id in await self.rows(table):
                where = [{"field": "id", "op": "eq", "value": row_id}]
                wanted = {"op": "delete", "table": table, "filters": where}
                request = WriteRequest.model_validate(wanted)
                shown = await self.alfred.kitchen.preview(self.who, request)
                await self.alfred.write(self.who, request, shown)

    async def prepare(self, case: Mapping[str, Any], session: str) -> None:
        """Put there what a sentence takes for granted."""
        wanted = {case["expect"], *case.get("also", ())}
        items = [each for each in case["items"] if each["name"]]
        await self.add("recipes", SOUP)
        for item in items:
            if "plan_meal" in wanted or "cook" in wanted or "scale" in wanted:
                if is_dish(item["name"]):
                    await self.add("recipes", {**SOUP, "name": item["name"].capitalize()})
            elif case["expect"] == "other" and not food_facts(item["name"]).is_food:
                await self.add("recipes", {**SOUP, "name": item["name"].capitalize()})
            elif wanted & {"use_stock", "show", "correction", "other"} - {"add_list"}:
                unit = read_amount(f"{item['amount'] or 1} x").unit
                record = {"ingredient": item["name"], "quantity": 20}
                await self.add("inventory_items", {**record, "unit": unit} if unit else record)
            if "remove_list" in wanted:
                await self.add("shopping_items", {"name": f'"{item["name"]}"'})
        if case["expect"] == "remove_list":
            await self.add("shopping_items", {"name": "sugar"}, {"name": "tea"})
        if case["expect"] in ("cook", "scale") and not items:
            await self.say(session, "I'm making lentil soup", "cook")
            await self.say(session, "next")
        if case["expect"] == "correction":
            named = next((i["name"] for i in items), "eggs")
            await self.say(session, f"add 3 {named} to the shopping list")

    async def run(self, case: dict[str, Any]) -> Trial:
        """Say a sentence in a kitchen made for it, and keep what came of it."""
        await self.clear()
        session = await self.alfred.new_session()
        await self.prepare(case, session)
        trial = Trial(case)
        trial.before = {table: await self.rows(table) for table in TABLES}
        cooking = self.alfred.cooking(session)
        start = -1 if cooking is None else cooking.position
        outcome = await self.say(session, case["message"])
        trial.after = {table: await self.rows(table) for table in TABLES}
        cooking = self.alfred.cooking(session)
        trial.position = (start, -1 if cooking is None else cooking.position)
        trial.message, trial.action = outcome.message, outcome.action
        return trial


def is_dish(name: str) -> bool:
    """Say whether somebody who names it to cook means a dish: no single word for a food."""
    return " " in name or not food_facts(name).is_food


def same_name(one: str, other: str) -> bool:
    """Say whether two names are about one thing; a brand or an adjective may be missing."""
    ours, theirs = _words(one), _words(other)
    return bool(ours & theirs) and (ours <= theirs or theirs <= ours)


def _words(name: str) -> set[str]:
    return set(name_key(name.replace("&", "and")).split())


def _amount(text: str) -> tuple[float | None, str | None]:
    if text in ("", "some", "all", "a bit"):
        return None, None
    read = read_amount(f"{text} thing")
    return read.quantity, read.unit


def judge(trial: Trial) -> str:
    """Return right, asked or wrong."""
    case, wrote = trial.case, trial.wrote
    wanted = {case["expect"], *case.get("also", ())}
    verdict = _judged(trial, case["expect"])
    extra = wrote - set().union(*(ALLOWED.get(each, set()) for each in wanted))
    if extra:
        return "wrong"
    if verdict == "asked" and wrote:
        return "wrong"
    return verdict


def _judged(trial: Trial, expect: str) -> str:
    items = [each for each in trial.case["items"] if each["name"]]
    quiet = "asked" if trial.asked else "wrong"
    table = {
        "add_stock": "inventory_items",
        "use_stock": "inventory_items",
        "add_list": "shopping_items",
        "remove_list": "shopping_items",
    }.get(expect)
    if table is not None and table not in trial.wrote:
        return quiet
    if trial.case.get("also") and table is not None and len(trial.wrote) > 1:
        return _several(trial, items)
    match expect:
        case "add_stock" | "add_list":
            return _all_of(trial, str(table), items)
        case "use_stock":
            return _used(trial, [i for i in items if i["amount"] != "a bit"])
        case "remove_list":
            return _removed(trial, items)
        case "plan_meal":
            # Without a dish, dishes to choose from are an answer.
            is_offered = not items and "What you can make" in trial.message
            return "right" if "meal_plans" in trial.wrote or is_offered else quiet
        case "correction":
            return "right" if trial.wrote else quiet
        case _:
            return _answered(trial, expect)


def _answered(trial: Trial, expect: str) -> str:
    """Judge a sentence that need not write anything."""
    if expect in ("ask_back", "small_talk") and trial.wrote:
        return "wrong"
    if expect == "ask_back":
        return "right"
    if expect == "cook":
        has_moved = trial.position[0] != trial.position[1] or "cooking_log" in trial.wrote
        return "right" if has_moved or not trial.asked else "asked"
    return "asked" if trial.asked else "right"


def _several(trial: Trial, items: list[dict[str, Any]]) -> str:
    """Judge a sentence of several wishes: every thing in a table, and no other thing in any."""
    rows = [
        row
        for table in ("inventory_items", "shopping_items")
        for row in (*trial.gained(table).values(), *trial.lost(table).values())
    ]
    is_all = all(any(same_name(row["name"], i["name"]) for row in rows) for i in items)
    is_only = all(any(same_name(row["name"], i["name"]) for i in items) for row in rows)
    return "right" if is_all and is_only else "wrong"


def _removed(trial: Trial, items: list[dict[str, Any]]) -> str:
    lost = trial.lost("shopping_items").values()
    hit = [i for i in items if any(same_name(r["name"], i["name"]) for r in lost)]
    said = trial.case["items"]
    is_second = bool(said) and said[0]["name"].startswith("item")
    if is_second:
        return "right" if len(lost) == 1 else "wrong"
    return "right" if len(lost) == len(items) == len(hit) else "wrong"


def _used(trial: Trial, items: list[dict[str, Any]]) -> str:
    lost = trial.lost("inventory_items")
    if len(lost) != len(items):
        return "wrong"
    for item in items:
        found = [key for key, row in lost.items() if same_name(row["name"], item["name"])]
        if not found:
            return "wrong"
        said = item["amount"].removesuffix(" left")
        quantity, _ = _amount(said)
        after = trial.after["inventory_items"].get(found[0], {"quantity": 0})
        wants = 0 if quantity is None else max(20 - quantity, 0)
        if said != item["amount"]:
            wants = quantity
        elif said == "half":
            wants = 10
        if re.search(r"\bbut\b|less", said) or after.get("quantity") != wants:
            return "wrong"
    return "right"


def _all_of(trial: Trial, table: str, items: list[dict[str, Any]]) -> str:
    gained = list(trial.gained(table).values())
    for item in items:
        found = [row for row in gained if same_name(row["name"], item["name"])]
        if not found:
            return "wrong"
        quantity, unit = _amount(item["amount"])
        told = found[0].get("quantity") or 0.0
        same = convert(told, found[0].get("unit"), unit, None)
        if quantity is not None and quantity not in (told, same) and "-" not in item["amount"]:
            return "wrong"
    names = [row["name"] for row in gained]
    known = [_words(item["name"]) for item in items]
    strange = [n for n in names if not any(_words(n) <= each for each in known)]
    return "wrong" if strange else "right"


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Kitchen]:
    """Open a kitchen in an empty folder."""
    Project.init(folder)
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    opening = Opening(providers={"script": Script(pick_last)}, flags=dict(FLAGS), environment=home)
    async with Studio.open(folder, opening) as studio:
        yield Kitchen(project_of(studio))


async def score_talk(cases: Sequence[dict[str, Any]], show: str) -> None:
    """Say every sentence and print how many came out right; show those of some verdicts."""
    by_expect: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as kitchen:
            for case in cases:
                trial, verdict = await _tried(kitchen, case)
                by_expect.setdefault(case["expect"], Counter())[verdict] += 1
                if verdict in show.split(","):
                    told = " / ".join(trial.message.splitlines())[:170]
                    said = f"{case['message'][:90]!r}"
                    print(f"{verdict:6} {case['expect']:15} {said}\n       -> {told}")
    for expect, counts in sorted(by_expect.items()):
        print(f"{expect:16}", "  ".join(f"{name} {counts[name]:3}" for name in VERDICTS))
    total = sum(by_expect.values(), Counter[str]())
    for name in VERDICTS:
        print(f"{name:6} {total[name]:4} of {len(cases)}  {total[name] / len(cases):.1%}")


async def _tried(kitchen: Kitchen, case: dict[str, Any]) -> tuple[Trial, str]:
    try:
        trial = await kitchen.run(case)
    except CallboardError as error:
        return Trial(case, message=repr(error)[:200]), "wrong"
    return trial, judge(trial)


@dataclass
class RecipeScore:
    """How recipes were read, counted by what was right about them."""

    show: bool
    counts: Counter[str] = field(default_factory=Counter[str])

    def add(self, path: Path, expected: Mapping[str, Any]) -> None:
        """Read a recipe and count how it compares with what is expected."""
        try:
            recipe = import_file(path).recipes[0]
        except RecipeUnreadable as error:
            self.counts["recipes unread"] += 1
            self.counts["servings unknown"] += 1
            self.counts["lines wrong"] += len(expected["ingredients"])
            self._tell(f"{path.name}: {error.message}")
            return
        facts, wanted = recipe.facts, expected["servings"]
        verdict = _servings(wanted, facts)
        self.counts[f"servings {verdict}"] += 1
        if verdict != "right":
            self._tell(f"{path.name}: servings {facts.servings} {facts.yields} for {wanted}")
        left: list[Any] = list(recipe.ingredients)
        for want in expected["ingredients"]:
            self._line(path, want, left)
        stray = [e for e in left if not any(_is_of(e, w) for w in expected["ingredients"])]
        self.counts["lines invented"] += len(stray)
        if stray:
            self._tell(f"{path.name}: invented {[e.raw for e in stray]}")

    def _line(self, path: Path, want: Mapping[str, Any], left: list[Any]) -> None:
        """Count one expected line, and take what was read of it from what is left."""
        found = next((each for each in left if _fits(want, each)), None)
        same_line = [each for each in left if _is_of(each, want)]
        if found is not None:
            left.remove(found)
            is_listed = name_key(want.get("list") or "") in name_key(found.group)
            self.counts["lines right"] += 1
            self.counts["lists right" if is_listed else "lists wrong"] += 1
        elif any(each.flags for each in same_line):
            self.counts["lines flagged"] += 1
        else:
            self.counts["lines wrong"] += 1
            got = [(e.quantity, e.unit, e.name, e.group) for e in same_line]
            wanted = f"{want['amount']} {want['unit']} {want['name']}"
            self._tell(f"{path.name}: {want['line']!r} wants {wanted}; {got}")

    def _tell(self, line: str) -> None:
        if self.show:
            print(line)


def score_recipes(folder: Path, *, show: bool) -> None:
    """Read every recipe that has its expectation beside it, and print the counts."""
    score = RecipeScore(show)
    for path in sorted(folder.iterdir()):
        beside = path.with_suffix(".expect.json")
        if path.suffix != ".json" and beside.exists():
            score.add(path, json.loads(beside.read_text()))
    for name, count in sorted(score.counts.items()):
        print(f"{name:18} {count}")


def _is_of(line: Any, want: Mapping[str, Any]) -> bool:
    """Say whether a line that was read is the one that is expected."""
    return line.raw.strip() in want["line"] or want["line"] in line.raw


def _servings(wanted: Any, facts: Any) -> str:
    low = None if facts.servings is None else f"{facts.servings:g}"
    shown = f"{low}-{facts.servings_high:g}" if facts.servings_high else low
    match wanted:
        case None:
            return "right" if shown is None else "invented"
        case {"makes": made}:
            said = (facts.yields or "").split(" ")[0]
            return (
                "right"
                if said == made.split(" ")[0]
                else "unknown"
                if not facts.yields
                else "wrong"
            )
        case _:
            return "right" if shown == str(wanted) else "unknown" if shown is None else "wrong"


def _fits(want: Mapping[str, Any], line: Any) -> bool:
    if not same_name(line.name, want["name"]):
        return False
    low = None if line.quantity is None else f"{line.quantity:g}"
    shown = f"{low}-{line.quantity_high:g}" if line.quantity_high else low
    amount = want["amount"] if want["amount"] is None else str(want["amount"]).removesuffix(".0")
    if isinstance(want["amount"], float):
        amount = f"{want['amount']:g}"
    # "A pinch of salt" is one pinch to a kitchen scale; nobody is misled by either.
    return shown == amount or (amount is None and low == "1")


def main() -> None:
    """Read the command line and print the score."""
    kind, path = sys.argv[1], Path(sys.argv[2])
    show = sys.argv[4] if len(sys.argv) > 4 else ""
    if kind == "talk":
        cases = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        asyncio.run(score_talk(cases, show))
    else:
        score_recipes(path, show="--show" in sys.argv)


if __name__ == "__main__":
    main()

"""Scenarios 2 and 8: suggestions stand on the database, and what was just written counts."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from alfred_home import CHAT, LISTEN, SUM, Clock, Home, open_home, plan, silent_host, step

from callboard.choreography.turn.shapes import StepType, TurnOutcome
from callboard.models import Line
from callboard.store.journal.steps import load_journal

pytestmark = pytest.mark.anyio

WITH_LINES = {"table": "recipes", "include": ["ingredients", "tags"], "limit": 200}
STOCK = {"table": "inventory_items", "include": ["ingredient"], "limit": 200}
MATCH = plan(
    step("read", "recipes", query=WITH_LINES),
    step("read", "inventory", query=STOCK),
    step("read", "preferences", query={"table": "user_profile"}),
    step("analyze", "recipes", 1, compute="match_recipes"),
)
NUTS = ("almond", "cashew", "walnut", "peanut", "pesto")
QUESTION = "What can I make with what I have?"


def judged(*labels: str) -> Line:
    matches: list[Any] = [{"label": each} for each in labels]
    said: dict[str, Any] = {"analysis": "These fit.", "matches": matches}
    return Line(json=said, prompt_type="act/analyze", times=None)


class Ticking(Clock):
    """A clock that moves on whenever somebody looks at it."""

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms


def spans(home: Home) -> list[tuple[int, int]]:
    """Return when each read of the first turn began and ended, by the journal."""
    run_id = home.alfred.talk.trace(home.session, 1)["run_id"]
    run = home.alfred.studio.engine.load(run_id)
    steps = home.alfred.studio.database.read(lambda c: load_journal(c, run))
    reads = [each for each in steps.values() if "/read/" in f"/{each.key}"]
    return [(each.started_at, each.ended_at) for each in reads]


def suggestions(message: str) -> list[str]:
    """Return the lines of what is suggested: the first list of a reply."""
    lines = message.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("- "))
    return list(itertools.takewhile(lambda line: line.startswith("- "), lines[start:]))


def by_type(said: TurnOutcome, kind: StepType) -> list[Any]:
    assert said.plan is not None
    results = {each.step_id: each for each in said.steps}
    return [(each, results[each.id]) for each in said.plan.steps if each.step_type is kind]


@pytest.mark.req("AL-44", "AL-51", "AL-62", "AL-63", "AL-149")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_02_what_can_i_make(tmp_path: Path, small: bool):
    lines = () if small else (LISTEN, MATCH, judged("Shakshuka", "Unicorn Pie"), silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small, clock=Ticking()) as home:
        home.seed()
        await home.alfred.set_profile(home.who, {"allergies": ["nuts"]})
        said = await home.say(QUESTION, "explore")
        reads = by_type(said, StepType.READ)
        assert [(each.group, each.subdomain) for each, _ in reads] == [
            (0, "recipes"),
            (0, "inventory"),
            (0, "preferences"),
        ]
        found = spans(home)
        assert len(found) == 3
        assert max(begin for begin, _ in found) < min(end for _, end in found)
        ((analyze, result),) = by_type(said, StepType.ANALYZE)
        assert analyze.group == 1
        recipes = {row["name"]: row for row in await home.rows("recipes", include=["ingredients"])}
        suggested = result.result["computed"]["matches"]
        assert len(suggested) > 10
        tables = {
            "recipes": await home.rows("recipes", include=["ingredients", "tags"]),
            "inventory_items": await home.rows("inventory_items", include=["ingredient"]),
            "user_profile": await home.rows("user_profile"),
        }
        function = home.alfred.kitchen.compute_functions()["match_recipes"]
        computed = function.run(tables, home.who, {})["matches"]
        assert [(e["name"], e["missing"], e["short"]) for e in suggested] == [
            (e["name"], e["missing"], e["short"]) for e in computed
        ]
        for match in suggested:
            lines_of = recipes[match["name"]]["ingredients"]
            named = " ".join(line["name"] for line in lines_of).casefold()
            assert not any(nut in named for nut in NUTS)
            assert {str(e) for e in match["missing"]} <= {line["name"] for line in lines_of}
        listed = suggestions(said.message)
        for line, match in zip(listed, suggested, strict=False):
            assert line.startswith(f"- {match['name']} (")
            assert all(str(each) in line for each in match["missing"])
        assert any(match["missing"] for match in suggested[: len(listed)])
        with_nuts = [
            name
            for name, row in recipes.items()
            if any(nut in line["name"] for line in row["ingredients"] for nut in NUTS)
        ]
        assert with_nuts
        # They are told of as left out, with the reason, and suggested nowhere.
        assert not any(name in line for name in with_nuts for line in listed)
        rest = [line for line in said.message.splitlines() if line not in listed]
        named_so = [line for line in rest if any(name in line for name in with_nuts)]
        assert all("(allergy: " in line for line in named_so)
        assert "Unicorn Pie" not in said.message
        if not small:
            (asked,) = home.prompts("act/analyze")
            assert "nuts" in asked
            assert any("Unicorn Pie" in each for each in said.warnings)


@pytest.mark.req("AL-58", "AL-62")
@pytest.mark.parametrize("small", [False, True])
async def test_scenario_02_without_recipes_there_is_no_data_and_nobody_invents(
    tmp_path: Path, small: bool
):
    lines = () if small else (LISTEN, MATCH, judged("Unicorn Pie"), silent_host, SUM)
    async with open_home(tmp_path, *lines, small=small) as home:
        await home.add("inventory_items", {"ingredient": "egg", "quantity": 6})
        said = await home.say(QUESTION, "explore")
        assert "no data" in said.message.casefold()
        assert "act/analyze" not in home.asked()
        assert "Unicorn" not in said.message


@pytest.mark.req("AL-44", "AL-49")
async def test_scenario_08_write_before_read_by_code(tmp_path: Path):
    async with open_home(tmp_path, small=True) as home:
        await home.add(
            "recipes",
            {"name": "Omelette", "ingredients": ["3 eggs"], "steps": ["Fry."]},
        )
        said = await home.say("Add eggs to inventory, then suggest a recipe", "quick")
        _is_in_order(said)
        assert "Omelette" in said.message


@pytest.mark.req("AL-44", "AL-49")
async def test_scenario_08_one_group_of_a_planner_is_taken_apart(tmp_path: Path):
    eggs = {"op": "upsert", "table": "inventory_items", "records": [{"ingredient": "eggs"}]}
    mixed = plan(
        step("write", "inventory", write=eggs),
        step("read", "inventory", query=STOCK),
        step("generate", "recipes", 1, content_type="recipe"),
    )
    made = {"name": "Omelette", "servings": 2, "ingredients": [{"name": "egg", "quantity": 3}],
            "steps": [{"text": "Fry."}]}  # fmt: skip
    cook = Line(json=made, prompt_type="act/generate", times=None)
    async with open_home(tmp_path, LISTEN, mixed, cook, CHAT, silent_host, SUM) as home:
        said = await home.say("Add eggs to inventory, then suggest a recipe", "explore")
        if said.action == "propose":
            said = await home.say("yes")
        _is_in_order(said)
        (prompt,) = home.prompts("act/generate")
        assert "egg" in prompt


def _is_in_order(said: TurnOutcome) -> None:
    assert said.plan is not None
    groups = [(each.step_type.value, each.group) for each in said.plan.steps]
    assert groups[0] == ("write", 0)
    reads = [group for kind, group in groups if kind == "read"]
    assert set(reads) == {1}
    assert groups[-1][1] == 2
    results = [result.result for _, result in by_type(said, StepType.READ)]
    rows = [row for each in results if each["table"] == "inventory_items" for row in each["rows"]]
    assert [row["ingredient"]["name"] for row in rows] == ["eggs"]

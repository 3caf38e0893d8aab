"""Alfred in an open project: its kitchen, its people, its settings, and whole conversations."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.choreography.turn.requests import ReadRequest, WriteError, WriteKey, WriteRequest
from callboard.choreography.turn.turn import SomebodyElses
from callboard.core.errors import InvalidInput, NotFound
from callboard.models import Line, ModelRequest, Script
from callboard.packs.alfred.exchange import (
    export_calendar,
    export_recipes,
    export_shopping,
    import_recipes,
)
from callboard.packs.alfred.kitchen.opening import UnknownPerson
from callboard.packs.alfred.project import KitchenProject
from callboard.packs.alfred.settings import PROJECT_FILE, read_settings
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

PACK = Path(__file__).resolve().parents[4] / "src" / "callboard" / "packs" / "alfred"
SMALL = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
RECIPE = (
    "# Toast\n\n## Ingredients\n\n- 2 slices bread\n- 10 g butter\n\n## Directions\n\n1. Toast.\n"
)


def pick_last(request: ModelRequest) -> Line:
    """Answer every choice with its last option."""
    properties: Any = (request.json_schema or {}).get("properties", {})
    return Line(json={name: each["enum"][-1] for name, each in properties.items()})


@asynccontextmanager
async def open_alfred(root: Path) -> AsyncIterator[KitchenProject]:
    if not (root / ".callboard").exists():
        Project.init(root)
    opening = Opening(
        packs=(load_pack(PACK),), providers={"script": Script(pick_last)}, flags=SMALL
    )
    async with Studio.open(root, opening) as studio:
        yield KitchenProject(studio)


async def names(alfred: KitchenProject, table: str, **query: Any) -> list[str]:
    request = ReadRequest.model_validate({"table": table, "limit": 200, **query})
    return [str(row.get("name")) for row in (await alfred.kitchen.read(alfred.who(), request)).rows]


async def add(alfred: KitchenProject, table: str, *records: dict[str, Any]) -> None:
    request = WriteRequest.model_validate({"op": "upsert", "table": table, "records": records})
    await alfred.write(alfred.who(), request)


@pytest.mark.req("AL-123", "AL-124")
async def test_a_kitchen_is_opened_with_somebody_in_it_and_stays(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        assert [person["id"] for person in alfred.people()] == ["me"]
        await add(alfred, "shopping_items", {"name": "milk"})
        assert await alfred.add_person("ann", "Ann", "Europe/Berlin")
        assert not await alfred.add_person("ann", "Ann")
        assert alfred.who("ann").timezone == "Europe/Berlin"
        with pytest.raises(UnknownPerson):
            alfred.who("nobody")
        with pytest.raises(InvalidInput):
            await alfred.add_person(" ", "")
    assert (tmp_path / ".callboard" / "kitchen.db").is_file()
    async with open_alfred(tmp_path) as alfred:
        assert await names(alfred, "shopping_items") == ["milk"]
        undone = await alfred.undo(alfred.who())
        assert (undone.removed, await names(alfred, "shopping_items")) == (1, [])


async def test_the_same_request_is_done_once(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        request = WriteRequest.model_validate(
            {"op": "upsert", "table": "shopping_items", "records": [{"name": "egg", "quantity": 2}]}
        )
        for _ in range(2):
            await alfred.write(alfred.who(), request, request_id="r-1")
        rows = (await alfred.kitchen.read(alfred.who(), ReadRequest(table="shopping_items"))).rows
        assert [row["quantity"] for row in rows] == [2]


@pytest.mark.req("AL-145", "AL-142")
async def test_changes_by_hand_are_undone_one_by_one_and_never_run_out(tmp_path: Path):
    Project.init(tmp_path)
    (tmp_path / PROJECT_FILE).write_text("writes: {rows_per_turn: 2}\n")
    async with open_alfred(tmp_path) as alfred:
        for name in ("milk", "rice", "salt", "tea"):
            request = WriteRequest.model_validate(
                {"op": "create", "table": "shopping_items", "records": [{"name": name}]}
            )
            await alfred.write(alfred.who(), request, request_id=f"r-{name}")
        for left in (["milk", "rice", "salt"], ["milk", "rice"], ["milk"], []):
            await alfred.undo(alfred.who())
            assert sorted(await names(alfred, "shopping_items")) == left
        with pytest.raises(WriteError, match="nothing to undo"):
            await alfred.undo(alfred.who())


@pytest.mark.req("AL-145")
async def test_an_undo_whose_place_is_taken_says_so_and_changes_nothing(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await add(alfred, "recipes", {"name": "Toast", "ingredients": ["bread"], "steps": ["Do."]})
        talking = alfred.who(session_id="sess-talk")
        planned = WriteRequest.model_validate(
            {
                "op": "create",
                "table": "meal_plans",
                "records": [{"plan_date": "2026-05-25", "recipe": "Toast"}],
            }
        )
        key = WriteKey(session_id=talking.session_id, turn=1, step_id="g0.s0")
        await alfred.kitchen.write(talking, planned, key)
        with pytest.raises(WriteError, match="in use") as refused:
            await alfred.undo(alfred.who())
        assert refused.value.kind == "conflict"
        assert await names(alfred, "recipes") == ["Toast"]


async def test_everything_is_exported_however_much_it_is(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        for start in range(0, 230, 46):
            numbers = range(start, start + 46)
            await add(alfred, "shopping_items", *({"name": f"thing {n} x"} for n in numbers))
        listed = await export_shopping(alfred.kitchen, alfred.who())
        assert all(f"thing {number} x" in listed for number in range(230))


@pytest.mark.req("AL-07", "AL-18")
async def test_what_was_only_forgotten_comes_back_with_a_read_however_short_its_life(
    tmp_path: Path,
):
    Project.init(tmp_path)
    (tmp_path / PROJECT_FILE).write_text("entities: {ttl_turns: 2, gc_turns: 5}\n")
    async with open_alfred(tmp_path) as alfred:
        await add(alfred, "recipes", {"name": "Toast", "ingredients": ["bread"], "steps": ["Do."]})
        session = (await alfred.studio.sessions.current()).id

        async def say(message: str) -> str:
            await alfred.send(message, session_id=session, mode="quick")
            (toast,) = [each for each in alfred.talk.entities(session) if each.label == "Toast"]
            return toast.state.value

        assert await say("show my recipes") == "active"
        assert await say("add milk to my shopping list") == "active"
        assert await say("add tea to my shopping list") == "inactive"
        assert await say("show my recipes") == "active"
        assert await say("no toast") == "inactive"
        assert await say("show my recipes") == "inactive"


@pytest.mark.req("AL-124")
async def test_everybody_has_a_conversation_of_their_own(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await alfred.add_person("ann", "Ann")
        mine = await alfred.session_of()
        await alfred.send("add milk to my shopping list", session_id=mine, mode="quick")
        hers = await alfred.session_of("ann")
        assert hers != mine
        with pytest.raises(SomebodyElses):
            await alfred.send("show my shopping list", session_id=mine, user_id="ann")
        said = await alfred.send("show my shopping list", session_id=hers, user_id="ann")
        assert "milk" not in said.message
        assert (await alfred.session_of(), await alfred.session_of("ann")) == (mine, hers)


async def test_recipes_come_in_and_go_out(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        taken = await import_recipes(alfred, alfred.who(), RECIPE)
        report, written = taken.report, taken.written
        assert (len(report.recipes), [each.created for each in written]) == (1, [1])
        out = await export_recipes(alfred.kitchen, alfred.who())
        assert "bread" in out["Toast"]
        assert (
            '"Recipe"'
            in (await export_recipes(alfred.kitchen, alfred.who(), ["toast"], "jsonld"))["Toast"]
        )
        with pytest.raises(NotFound):
            await export_recipes(alfred.kitchen, alfred.who(), ["unicorn"])
        with pytest.raises(InvalidInput):
            await export_recipes(alfred.kitchen, alfred.who(), as_format="pdf")
        await add(alfred, "meal_plans", {"plan_date": "2026-05-25", "recipe": "Toast"})
        calendar = await export_calendar(alfred.kitchen, alfred.who(), "2026-05-01", "2026-05-31")
        assert "Toast" in calendar
        await add(alfred, "shopping_items", {"name": "milk"})
        assert "milk" in await export_shopping(alfred.kitchen, alfred.who())


def test_a_bad_setting_is_named_and_the_default_stays(tmp_path: Path):
    file = tmp_path / PROJECT_FILE
    file.parent.mkdir()
    file.write_text(
        "database: {url: 'mysql://secret@host'}\npeople: {timezone: Mars/Base}\n"
        "writes: {confirm_delete_over: 0, colour: red}\nkitchens: {}\n"
    )
    read = read_settings(file.parent)
    assert (read.values.database.url, read.values.people.timezone) == ("", "UTC")
    assert read.values.writes.confirm_delete_over == 0
    told = "\n".join(read.warnings)
    for word in ("database.url", "people.timezone", "writes.colour", "kitchens"):
        assert word in told
    assert "secret" not in told


@pytest.mark.req("AL-157")
async def test_thresholds_of_the_project_count(tmp_path: Path):
    Project.init(tmp_path)
    (tmp_path / PROJECT_FILE).write_text("writes: {confirm_delete_over: 0}\n")
    async with open_alfred(tmp_path) as alfred:
        await add(alfred, "shopping_items", {"name": "milk"})
        session = (await alfred.studio.sessions.current()).id
        asked = await alfred.send("remove milk from the list", session_id=session, mode="quick")
        assert asked.action == "propose"


@pytest.mark.req("AL-75", "AL-147")
async def test_scenario_13_cooking(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        await add(
            alfred,
            "recipes",
            {
                "name": "Butter Chicken",
                "servings": 2,
                "ingredients": [{"ingredient": "chicken", "quantity": 400, "unit": "g"}],
                "steps": ["Brown it.", "Simmer."],
            },
        )
        await add(
            alfred,
            "inventory_items",
            {"ingredient": "chicken", "quantity": 500, "unit": "g", "expires_on": "2031-01-02"},
            {"ingredient": "chicken", "quantity": 500, "unit": "g", "expires_on": "2031-01-01"},
        )
        session = (await alfred.studio.sessions.current()).id

        async def say(message: str) -> str:
            return (await alfred.send(message, session_id=session, mode="cook")).message

        assert "800 g chicken" in await say("I'm making butter chicken for 4")
        (entity,) = alfred.talk.entities(session)
        assert (entity.label, entity.pinned) == ("Butter Chicken", True)
        assert "Step 1 of 2: Brown it." in await say("next")
        assert "800 g chicken" in await say("how much chicken")
        assert "Step 2 of 2" in await say("next")
        done = await say("done, 5 stars")
        assert "Butter Chicken" in done
        stock = ReadRequest.model_validate(
            {"table": "inventory_items", "order_by": [{"column": "expires_on"}]}
        )
        rows = (await alfred.kitchen.read(alfred.who(), stock)).rows
        assert [(row["expires_on"], row["quantity"]) for row in rows] == [("2031-01-02", 200)]
        log = (await alfred.kitchen.read(alfred.who(), ReadRequest(table="cooking_log"))).rows
        assert [(row["recipe_name"], row["rating"], row["servings"]) for row in log] == [
            ("Butter Chicken", 5, 4)
        ]
        assert not alfred.talk.entities(session)[0].pinned
        await say("undo that")
        rows = (await alfred.kitchen.read(alfred.who(), stock)).rows
        assert [row["quantity"] for row in rows] == [500, 500]
        assert "no recipe called" in await say("I'm making dragon stew")


@pytest.mark.req("AL-59", "AL-65")
async def test_a_recipe_is_drafted_by_picking_and_kept_on_a_word(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        session = (await alfred.studio.sessions.current()).id
        await alfred.send("I'm allergic to gluten", session_id=session, mode="quick")
        drafted = await alfred.send("Make me a weeknight pasta", session_id=session, mode="create")
        (pending,) = [each for each in drafted.entities if each["is_draft"]]
        assert pending["id"] == "temp_recipe_1"
        assert await names(alfred, "recipes") == []
        # Gluten-free pasta, not pasta.
        assert "Gluten-free Pasta" in pending["label"]
        await alfred.send("Save that", session_id=session)
        assert await names(alfred, "recipes") == [pending["label"]]


@pytest.mark.req("AL-89", "AL-44")
async def test_a_week_is_planned_from_own_recipes_after_a_yes(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        dishes = ["Soup", "Stew", "Rice", "Bake", "Almond Pie"]
        await add(
            alfred,
            "recipes",
            *(
                {
                    "name": dish,
                    "course": "main",
                    "ingredients": [{"ingredient": "almonds" if "Almond" in dish else "rice"}],
                    "steps": ["Cook."],
                }
                for dish in dishes
            ),
        )
        await alfred.set_profile(alfred.who(), {"allergies": ["nuts"], "dislikes": ["olives"]})
        session = (await alfred.studio.sessions.current()).id
        say = alfred.send
        asked = await say("Plan dinners for next week", session_id=session, mode="plan")
        assert asked.action == "propose"
        assert await names(alfred, "meal_plans") == []
        more = await say("make it 4", session_id=session)
        assert more.action == "propose"
        await say("yes", session_id=session)
        request = ReadRequest.model_validate({"table": "meal_plans", "include": ["recipe"]})
        rows = (await alfred.kitchen.read(alfred.who(), request)).rows
        assert sorted(row["recipe"]["name"] for row in rows) == ["Bake", "Rice", "Soup", "Stew"]


@pytest.mark.req("AL-79", "AL-78")
async def test_scenario_14_onboarding(tmp_path: Path):
    async with open_alfred(tmp_path) as alfred:
        who = alfred.who()
        asked = await alfred.onboarding(who)
        count = 0
        while not asked.is_done:
            assert asked.next is not None
            asked = await alfred.answer_onboarding(who, asked.next.id, asked.next.options[0])
            count += 1
        assert count == 5
        assert (await alfred.skip_onboarding(who)).next is None
        await add(
            alfred,
            "recipes",
            *(
                {"name": dish, "ingredients": [{"ingredient": "rice"}], "steps": ["Cook."]}
                for dish in ("Soup", "Stew", "Bake")
            ),
        )
        session = (await alfred.studio.sessions.current()).id
        planned = await alfred.send("plan my meals", session_id=session, mode="plan")
        assert planned.action == "propose"
        assert any("Planned for" in each for each in planned.assumptions)
        assert alfred.cooking(session) is None

"""What buttons say, through the API: the same for every door, and never a call of a model."""

import asyncio
from typing import Any

import pytest
from al_door_stage import Household, Seat, Table

from callboard.models import Line, ModelRequest, Script

pytestmark = [pytest.mark.anyio, pytest.mark.req("AL-158")]


async def press(seat: Seat, kind: str, target: str = "", status: int = 200, **more: Any) -> Any:
    gesture = {"kind": kind, "target": target}
    return await seat.say("", status=status, gesture=gesture, **more)


async def drafted(table: Table) -> tuple[Seat, dict[str, Any]]:
    await table.post("/seed")
    await table.put("/profile", {"values": {"household_size": 2}})
    seat = await table.sit_down()
    made = await seat.say("Make me a weeknight pasta", mode="create")
    (draft,) = [each for each in made["entities"] if each["is_draft"]]
    return seat, draft


async def proposed(table: Table) -> tuple[Seat, str]:
    await table.post("/seed")
    await table.put("/profile", {"values": {"household_size": 2}})
    seat = await table.sit_down()
    asked = await seat.say("Plan 3 dinners for next week", mode="plan")
    assert asked["action"] == "propose"
    return seat, asked["pending_proposal"]["plan_hash"]


async def test_a_draft_is_kept_by_its_id_and_stored(household: Household) -> None:
    async with household.serve() as table:
        seat, draft = await drafted(table)
        before = await table.names("recipes")
        calls = len(table.script.calls)
        kept = await press(seat, "keep", draft["id"])
        assert kept["calls"] == [] and len(table.script.calls) == calls
        assert await table.names("recipes") == sorted([*before, draft["label"]])
        assert (await seat.get("/turns"))[-1]["user"] == f"Keep “{draft['label']}”"
        lapsed = await press(seat, "keep", draft["id"], status=409)
        assert lapsed["error"]["code"] == "gesture_lapsed"
        assert len(await seat.get("/turns")) == 2


async def test_a_draft_is_dropped_and_not_stored(household: Household) -> None:
    async with household.serve() as table:
        seat, draft = await drafted(table)
        before = await table.names("recipes")
        dropped = await press(seat, "drop", draft["id"])
        assert dropped["message"] == f"Dropped “{draft['label']}”."
        assert dropped["calls"] == []
        assert (await seat.get("/standing"))["drafts"] == []
        assert await table.names("recipes") == before
        await press(seat, "drop", "temp_recipe_99", status=409)


async def test_a_draft_beside_an_open_plan_leaves_the_plan_open(household: Household) -> None:
    async with household.serve() as table:
        seat, draft = await drafted(table)
        asked = await seat.say("Plan 3 dinners for next week", mode="plan")
        plan = asked["pending_proposal"]["plan_hash"]
        assert [each["id"] for each in (await seat.get("/standing"))["drafts"]] == [draft["id"]]
        dropped = await press(seat, "drop", draft["id"])
        assert dropped["pending_proposal"]["plan_hash"] == plan
        done = await press(seat, "confirm", plan)
        assert done["action"] == "respond" and done["pending_proposal"] is None
        assert len((await table.get("/rows/meal_plans"))["rows"]) == 3


async def test_a_plan_is_cancelled_or_confirmed_once_and_only_as_it_was_shown(
    household: Household,
) -> None:
    async with household.serve() as table:
        seat, plan = await proposed(table)
        await press(seat, "confirm", "another plan", status=409)
        cancelled = await press(seat, "cancel", plan)
        assert "nothing was saved" in cancelled["message"]
        await press(seat, "confirm", plan, status=409)
        assert (await table.get("/rows/meal_plans"))["rows"] == []
        again = await seat.say("Plan 3 dinners for next week")
        shown = again["pending_proposal"]["plan_hash"]
        assert shown != plan
        await press(seat, "confirm", plan, status=409)
        done = await press(seat, "confirm", shown)
        assert done["calls"] == []
        assert len((await table.get("/rows/meal_plans"))["rows"]) == 3


async def test_a_change_is_said_in_words(household: Household) -> None:
    async with household.serve() as table:
        seat, plan = await proposed(table)
        await press(seat, "change", plan, status=400)
        change = {"kind": "change", "target": plan}
        changed = await seat.say("make it 4", gesture=change)
        assert changed["action"] == "propose"
        assert changed["pending_proposal"]["affected"][0]["count"] == 4
        assert (await table.get("/rows/meal_plans"))["rows"] == []


async def test_an_option_is_picked_by_its_id(household: Household) -> None:
    async with household.serve() as table:
        for dish in ("Lemon Pasta", "Tomato Pasta"):
            record = {"name": dish, "servings": 2, "steps": [{"text": "Cook it."}]}
            wanted = {"op": "create", "table": "recipes", "records": [record]}
            await table.post("/write", {"request": wanted})
        seat = await table.sit_down()
        await seat.say("show my recipes", mode="quick")
        asked = await seat.say("add that one to Tuesday", mode="plan")
        options = {each["label"]: each["id"] for each in asked["pending_clarification"]["options"]}
        await press(seat, "pick", "no such option", status=409)
        await press(seat, "confirm", status=409)
        done = await press(seat, "pick", options["Tomato Pasta"])
        assert done["calls"] == []
        (row,) = (await table.get("/rows/meal_plans"))["rows"]
        assert row["recipe_id"] == options["Tomato Pasta"]
        assert (await seat.get("/turns"))[-1]["user"] == "Tomato Pasta"


async def test_what_is_no_gesture_is_refused(household: Household) -> None:
    async with household.serve() as table:
        seat = await table.sit_down()
        await press(seat, "shout", status=400)
        await seat.say("", status=400)
        body = {"args": {"message": "x", "user_id": "me", "gesture": {"kind": "shout"}}}
        refused = await table.client.post("/api/runs", json={"choreography": "alfred/turn", **body})
        assert refused.status_code in (400, 404, 405), refused.text
        assert await seat.get("/turns") == []


@pytest.mark.req("AL-66")
async def test_a_mode_is_chosen_without_a_message_and_not_amid_a_turn(
    household: Household,
) -> None:
    def slow(_request: ModelRequest) -> Line:
        return Line(text="", hang=True)

    async with household.serve(Script(slow)) as table:
        seat = await table.sit_down()
        path = f"/sessions/{seat.session_id}/mode"
        assert await table.put(path, {"mode": "plan"}) == {"mode": "plan"}
        assert (await seat.get("/standing"))["mode"] == "plan"
        assert await seat.get("/turns") == []
        await table.put(path, {"mode": "fast"}, status=400)
        assert (await seat.say("add eggs to the shopping list"))["mode"] == "plan"
        running = asyncio.create_task(seat.say("Make me a weeknight pasta", mode="create"))
        while not table.script.calls:
            assert not running.done(), running
            await asyncio.sleep(0)
        busy = await table.put(path, {"mode": "quick"}, status=409)
        run_id = busy["error"]["details"]["run_id"]
        await table.client.post(f"/api/runs/{run_id}/cancel")
        with pytest.raises(AssertionError):
            await running
        assert await table.put(path, {"mode": "auto"}) == {"mode": None}

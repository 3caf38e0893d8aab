"""The REST door of Alfred, group by group, on a real server with a scripted model."""

import asyncio
from typing import Any

import httpx
import pytest
from al_door_stage import PASTA, TOAST, Household, hear

from callboard.models import Failure, Line, ModelRequest, Script

pytestmark = pytest.mark.anyio


@pytest.mark.req("AL-156", "AL-71")
async def test_a_conversation_is_opened_held_looked_at_undone_and_ended(
    household: Household,
) -> None:
    async with household.serve() as table:
        begun = await table.post("/sessions", {"mode": "quick"}, status=201)
        assert begun["user_id"] == "me"
        assert [mode["name"] for mode in begun["modes"]] == [
            mode["name"] for mode in await table.get("/modes")
        ]
        seat = await table.sit_down(mode="quick")
        turn = await seat.say("Add 6 eggs to my shopping list", mode="quick")
        assert (turn["turn"], turn["action"], turn["mode"]) == (1, "respond", "quick")
        assert turn["message"].startswith("Added eggs to the shopping list.")
        assert turn["pending_proposal"] is None and turn["calls"] == []
        assert await table.names("shopping_items") == ["eggs"]
        await seat.say("add milk to the shopping list")
        said = await seat.get("/turns")
        assert [each["user"] for each in said][-1] == "add milk to the shopping list"
        assert [each["mode"] for each in said] == ["quick", "quick"]
        why = await seat.get("/trace/1")
        assert why["plan"]["steps"][0]["step_type"] == "write"
        assert (await seat.get("/trace/9", status=404))["error"]["code"] == "unknown_turn"
        undone = await seat.post("/undo")
        assert "milk" in undone["message"]
        assert await table.names("shopping_items") == ["eggs"]
        assert isinstance(await seat.get("/entities"), list)
        ended = await seat.post("/end")
        assert ended


@pytest.mark.req("AL-156", "AL-71")
async def test_each_refusal_has_its_status_and_changes_nothing(household: Household) -> None:
    async with household.serve() as table:
        seat = await table.sit_down()
        unknown = await table.post("/sessions/ses_none/messages", {"message": "hello"}, 404)
        assert unknown["error"]["details"]["fix"]
        await seat.say("x" * 200_000, status=413)
        too_long = await seat.say("x" * 8001, status=413)
        assert too_long["error"]["code"] == "message_too_long"
        await seat.say("add eggs to the list", status=400, mode="fast")
        await table.post("/sessions", {"mode": "fast"}, status=400)
        await table.post("/sessions", {"moood": "quick"}, status=400)
        await table.post("/sessions", {"user_id": "nobody"}, status=404)
        assert await seat.get("/turns") == []
        assert await table.names("shopping_items") == []


@pytest.mark.req("AL-156")
async def test_a_model_that_is_away_is_a_503_and_the_turn_never_was(household: Household) -> None:
    def away(_request: ModelRequest) -> Line:
        return Line(fail=Failure(status=503, message="no model today"))

    script = Script(away)
    household.tier = "full"
    async with household.serve(script) as table:
        await table.put("/profile", {"values": {"household_size": 2}})
        for question in ("days", "when"):
            await table.post("/onboarding", {"question": question})
        seat = await table.sit_down(mode="plan")
        refused = await seat.say("Compose something for a rainy evening", mode="plan", status=503)
        assert refused["error"]["code"] == "model_unavailable"
        assert await seat.get("/turns") == []
        later = await seat.say("add eggs to the shopping list", mode="quick")
        assert later["turn"] == 1


@pytest.mark.req("AL-156")
async def test_a_message_sent_twice_is_one_message(household: Household) -> None:
    async with household.serve() as table:
        seat = await table.sit_down(mode="quick")
        wanted = {"mode": "quick", "client_message_id": "phone-1"}
        first = await seat.say("add 6 eggs to the shopping list", **wanted)
        again = await seat.say("add 6 eggs to the shopping list", **wanted)
        assert again == first
        (row,) = (await table.get("/rows/shopping_items"))["rows"]
        assert row["quantity"] == 6
        assert len(await seat.get("/turns")) == 1


@pytest.mark.req("AL-156")
async def test_a_second_message_while_a_turn_runs_is_refused(household: Household) -> None:
    def slow(_request: ModelRequest) -> Line:
        return Line(text="", hang=True)

    async with household.serve(Script(slow)) as table:
        seat = await table.sit_down(mode="create")
        running = asyncio.create_task(seat.say("Make me a weeknight pasta", mode="create"))
        while not table.script.calls:
            assert not running.done(), running
            await asyncio.sleep(0)
        refused = await seat.say("add eggs to the list", status=409)
        assert refused["error"]["code"] == "turn_running"
        run_id = refused["error"]["details"]["run_id"]
        other = await table.sit_down(mode="quick")
        assert (await other.say("add eggs to the list", mode="quick"))["action"] == "respond"
        cancelled = await table.client.post(f"/api/runs/{run_id}/cancel")
        assert cancelled.status_code < 300, cancelled.text
        with pytest.raises(AssertionError):
            await running


@pytest.mark.req("AL-156")
async def test_another_client_sees_a_turn_happen_and_can_come_back(household: Household) -> None:
    async with household.serve() as table:
        seat = await table.sit_down(mode="quick")
        listening = asyncio.Event()
        async with httpx.AsyncClient(base_url=table.address, timeout=60) as other:
            hearing = asyncio.create_task(
                hear(other, seat.session_id, lambda heard: "done" in heard.named(), listening)
            )
            await listening.wait()
            # The stream begins to listen when it is first read from.
            while not table.studio.backstage.live_listeners:
                await asyncio.sleep(0)
            turn = await seat.say("add eggs to the shopping list", mode="quick")
            heard = await hearing
            names = heard.named()
            for name in ("node_started", "step_started", "step_finished", "reply_delta", "done"):
                assert name in names, names
            assert names.index("step_started") < names.index("step_finished")
            shown = [body["data"]["data"] for _, body in heard.events if body["type"] == "emitted"]
            assert turn["message"] in [each.get("text") for each in shown]
            live = [number for number, body in heard.events if body["type"] == "emitted"]
            assert set(live) == {""}
            stored = [int(number) for number, _ in heard.events if number]
            assert stored == sorted(stored)
            later = await hear(
                other,
                seat.session_id,
                lambda heard: len(heard.events) > 0,
                asyncio.Event(),
                last_seen=str(stored[0]),
            )
            assert int(later.events[0][0]) == stored[1]
        # Whoever is gone is not told any more.
        while table.studio.backstage.live_listeners:
            await asyncio.sleep(0)


@pytest.mark.req("AL-156")
async def test_a_proposal_waits_and_is_confirmed_over_http(household: Household) -> None:
    async with household.serve() as table:
        await table.post("/seed")
        seat = await table.sit_down(mode="quick")
        count = (await table.get("/counts"))["shopping_items"]
        asked = await seat.say("clear the shopping list", mode="quick")
        assert asked["action"] == "propose"
        (affected,) = asked["pending_proposal"]["affected"]
        assert (affected["op"], affected["count"]) == ("remove", count)
        assert f"remove {count} from the shopping list" in asked["message"]
        assert (await table.get("/counts"))["shopping_items"] == count
        done = await seat.say("yes")
        assert done["action"] == "respond"
        assert (await table.get("/counts"))["shopping_items"] == 0
        await seat.post("/undo")
        assert (await table.get("/counts"))["shopping_items"] == count


@pytest.mark.req("AL-123")
async def test_two_people_share_a_server_and_nothing_else(household: Household) -> None:
    async with household.serve() as table:
        ann = {"user_id": "ann", "name": "Ann", "timezone": "Europe/Berlin"}
        assert (await table.post("/people", ann, status=201))["is_new"] is True
        assert (await table.post("/people", ann, status=201))["is_new"] is False
        assert {each["id"] for each in await table.get("/people")} == {"me", "ann"}
        await table.post("/people", {**ann, "user_id": "bo", "timezone": "Mars/Base"}, status=400)
        mine, hers = await table.sit_down(), await table.sit_down(user_id="ann")
        await mine.say("add beer to the shopping list", mode="quick")
        await hers.say("add wine to the shopping list", mode="quick")
        assert await table.names("shopping_items") == ["beer"]
        assert await table.names("shopping_items", "ann") == ["wine"]
        assert "wine" in (await table.text("/shopping.txt", user_id="ann")).text
        assert (await table.get("/rows/shopping_items", 404, user_id="nobody"))["error"]["code"]


@pytest.mark.req("AL-142", "AL-143", "AL-144")
async def test_rows_are_written_once_confirmed_and_undone_without_a_conversation(
    household: Household,
) -> None:
    async with household.serve() as table:
        records = [{"name": name} for name in ("eggs", "milk", "flour")]
        create = {"op": "create", "table": "shopping_items", "records": records}
        body = {"request": create, "request_id": "r1"}
        first = await table.post("/write", body)
        assert first["created"] == 3
        assert await table.post("/write", body) == first
        assert await table.names("shopping_items") == ["eggs", "flour", "milk"]
        everything = [{"field": "name", "op": "ilike", "value": "%"}]
        clear = {"op": "delete", "table": "shopping_items", "filters": everything}
        preview = await table.post("/preview", clear)
        assert preview["match_count"] == 3
        refused = await table.post("/write", {"request": clear}, status=409)
        assert refused["error"]["details"]["kind"] == "needs_confirmation"
        shown = refused["error"]["details"]["preview"]
        assert shown == preview
        await table.post("/write", {"request": {**create, "records": [{"name": "salt"}]}})
        changed = await table.post("/write", {"request": clear, "confirmed": shown}, status=409)
        assert changed["error"]["details"]["kind"] == "conflict"
        now = changed["error"]["details"]["preview"]
        done = await table.post("/write", {"request": clear, "confirmed": now})
        assert done["deleted"] == 4
        assert await table.names("shopping_items") == []
        assert (await table.post("/undo"))["restored"] == 4
        assert len(await table.names("shopping_items")) == 4


@pytest.mark.req("AL-132")
async def test_rows_are_read_by_filters_and_refused_with_what_would_be_right(
    household: Household,
) -> None:
    async with household.serve() as table:
        await table.post("/seed")
        shapes = {each["name"]: each for each in await table.get("/tables")}
        assert "user_id" not in shapes["recipes"]["writable"]
        quick = {
            "table": "recipes",
            "filters": [{"field": "total_minutes", "op": "lte", "value": 20}],
            "include": ["ingredients"],
            "order_by": [{"column": "name"}],
        }
        found = await table.post("/read", quick)
        assert found["rows"] and all(row["total_minutes"] <= 20 for row in found["rows"])
        assert all(row["ingredients"] for row in found["rows"])
        some = await table.get("/rows/recipes", search="chicken", limit=2)
        assert some["row_count"] <= 2 and some["total_count"] >= some["row_count"]
        wrong = {"table": "recipes", "filters": [{"field": "smell", "op": "eq", "value": 1}]}
        refused = await table.post("/read", wrong, status=400)
        assert "name" in refused["error"]["details"]["allowed"]
        sql = {"table": "recipes; DROP TABLE recipes", "filters": []}
        await table.post("/read", sql, status=400)
        assert (await table.get("/counts"))["recipes"] >= 40


async def test_recipes_go_in_and_out_as_files(household: Household) -> None:
    async with household.serve() as table:
        preview = await table.post("/recipes/import", {"text": TOAST, "kind": "markdown"})
        (recipe,) = preview["report"]["recipes"]
        assert [line["name"] for line in recipe["ingredients"]] == ["bread", "butter"]
        assert preview["written"] == [] and await table.names("recipes") == []
        written = await table.post("/recipes/import", {"text": TOAST, "write": True})
        assert written["written"][0]["created"] == 1
        again = await table.post("/recipes/import", {"text": TOAST, "write": True}, status=409)
        assert "Toast" in again["error"]["message"]
        texts = await table.get("/recipes/export")
        assert "butter" in texts["Toast"]
        as_data = await table.get("/recipes/export", format="jsonld", names=["Toast"])
        assert '"@type": "Recipe"' in as_data["Toast"]
        await table.get("/recipes/export", status=404, names=["Soup of stones"])
        await table.get("/recipes/export", status=400, format="pdf")


async def test_a_plan_leaves_as_a_calendar_and_a_list_as_text(household: Household) -> None:
    async with household.serve() as table:
        await table.post(
            "/write", {"request": {"op": "create", "table": "recipes", "records": [PASTA]}}
        )
        meal = {"plan_date": "@today", "meal_type": "dinner", "recipe": "Lemon Pasta"}
        plan = {"op": "create", "table": "meal_plans", "records": [meal]}
        await table.post("/write", {"request": plan})
        calendar = await table.text("/calendar.ics")
        assert calendar.headers["content-type"].startswith("text/calendar")
        assert "Lemon Pasta" in calendar.text and calendar.text.startswith("BEGIN:VCALENDAR")
        past = await table.text("/calendar.ics", start="2001-01-01", end="2001-01-07")
        assert "Lemon Pasta" not in past.text
        await table.get("/calendar.ics", status=400, start="yesterday")
        items = {"op": "create", "table": "shopping_items", "records": [{"name": "milk"}]}
        await table.post("/write", {"request": items})
        listed = await table.text("/shopping.txt")
        assert "Dairy and eggs\n[ ] milk" in listed.text


async def test_a_profile_is_kept_and_an_allergy_dropped_only_by_word(household: Household) -> None:
    async with household.serve() as table:
        await table.put("/profile", {"values": {"allergies": ["peanuts"], "household_size": 3}})
        profile = await table.get("/profile")
        assert (profile["allergies"], profile["household_size"]) == (["peanuts"], 3)
        drop = {"values": {"allergies": []}}
        refused = await table.put("/profile", drop, status=409)
        assert (await table.get("/profile"))["allergies"] == ["peanuts"]
        preview: Any = refused["error"]["details"]["preview"]
        await table.put("/profile", {**drop, "confirmed": preview})
        assert (await table.get("/profile"))["allergies"] == []


@pytest.mark.req("AL-156")
async def test_what_is_asked_once_is_answered_or_skipped(household: Household) -> None:
    async with household.serve() as table:
        before = await table.get("/onboarding")
        assert before["answered"] == {}
        assert {"id", "text", "options", "is_optional"} <= set(before["open"][0])
        after = await table.post("/onboarding", {"question": "days", "answer": "about 4"})
        assert after["answered"] == {"days": "3-5"}
        skipped = await table.post("/onboarding", {"question": "when"})
        assert skipped["answered"]["when"] == "skip"
        assert [each["id"] for each in skipped["open"]] == [
            each["id"] for each in before["open"] if each["id"] not in ("days", "when")
        ]
        assert (await table.get("/profile"))["cooking_frequency"] == "3x_week"
        await table.post("/onboarding", {"question": "shoe size", "answer": "42"}, status=400)
        await table.post("/onboarding", {"question": "recipes", "answer": "purple"}, status=400)


@pytest.mark.req("AL-156")
async def test_a_person_or_a_table_nobody_knows_is_not_found(household: Household) -> None:
    async with household.serve() as table:
        for path in ("/profile", "/onboarding", "/counts", "/rows/recipes", "/shopping.txt"):
            refused = await table.get(path, status=404, user_id="nobody")
            assert refused["error"]["code"] == "unknown_person"
        seat = await table.sit_down(mode="quick")
        await table.post("/sessions", {"user_id": "nobody"}, 404)
        await seat.say("hello", status=404, user_id="nobody")
        unknown = await table.get("/rows/nope", status=404)
        assert "/api/alfred/tables" in unknown["error"]["details"]["fix"]

"""A kitchen at one look, and a turn as a page follows it."""

import pytest
from al_door_stage import Household

from callboard.core.events import Emitted, Event, EventBody, ReplyChunk, ReplyVoided
from callboard.packs.alfred.page.panes import Progress


@pytest.mark.anyio
async def test_list_stock_and_week_are_told_in_words(household: Household) -> None:
    async with household.serve() as table:

        async def add(name: str, *records: dict[str, object]) -> None:
            wanted = {"op": "create", "table": name, "records": list(records)}
            await table.post("/write", {"request": wanted})

        await add("shopping_items", {"name": "milk", "quantity": 2, "unit": "l"})
        await add(
            "inventory_items",
            {"ingredient": "spinach", "quantity": 200, "unit": "g", "expires_on": "@today+1d"},
            {"ingredient": "yogurt", "expires_on": "@today-1d"},
            {"ingredient": "rice", "quantity": 1, "unit": "kg", "low_threshold": 2},
        )
        await add("meal_plans", {"plan_date": "@today", "note": "left-overs"})
        await add("meal_plans", {"plan_date": "@today+9d", "note": "a feast"})
        await add("meal_plans", {"plan_date": "@today+20d", "note": "too far off"})
        seen = await table.get("/glance")
    (shelf,) = seen["shopping"]
    assert [(e["name"], e["amount"]) for e in shelf["items"]] == [("milk", "2 l")]
    soon, pantry = seen["stock"]
    assert [(e["name"], e["note"]) for e in soon["items"]] == [
        ("yogurt", "expired"),
        ("spinach", "tomorrow"),
    ]
    assert (soon["title"], pantry["items"][0]["note"]) == ("Use soon", "runs low")
    assert len(seen["week"]) == 8 and seen["week"][0]["title"] == "Today"
    meals = [meal["name"] for day in seen["week"] for meal in day["meals"]]
    assert meals == ["left-overs", "a feast"]


def test_a_turn_is_told_while_it_happens_and_its_reply_as_it_is_written() -> None:
    progress = Progress()

    def tell(body: EventBody) -> bool:
        return progress.follow(Event(0, 0, body))

    assert not tell(ReplyChunk("chef", "{half of a plan"))
    assert tell(Emitted("node_started", {"turn": 1, "node": "think"}))
    assert progress.doing == "Making a plan …"
    assert tell(Emitted("step_started", {"turn": 1, "description": "Look at the stock"}))
    assert progress.doing == "Look at the stock …"
    assert not tell(ReplyChunk("chef", "still no reply"))
    assert tell(Emitted("node_started", {"turn": 1, "node": "reply"}))
    assert tell(ReplyChunk("host", "You could ")) and tell(ReplyChunk("host", "cook."))
    assert progress.reply == "You could cook."
    assert tell(ReplyVoided("host", "again")) and progress.reply == ""
    assert tell(Emitted("reply_delta", {"turn": 1, "text": "Cook."}))
    assert tell(Emitted("done", {"turn": 1})) and progress.is_over
    assert not tell(Emitted("something else", {}))

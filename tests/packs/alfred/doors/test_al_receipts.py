"""What Alfred changes is on record: by hand, in a conversation, failed ones too."""

import pytest
from al_door_stage import Household

from callboard.core.vocabulary import Receipt
from callboard.studio.studio import Studio
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


def told(studio: Studio) -> list[tuple[str, str, bool]]:
    found: list[Receipt] = studio.database.read(list_receipts)
    return [(each.tool, each.outcome.value, each.run_id is not None) for each in found]


async def test_rows_written_by_hand_and_in_a_conversation_leave_receipts(
    household: Household,
) -> None:
    async with household.serve() as table:
        eggs = {
            "op": "create",
            "table": "shopping_items",
            "records": [{"name": "eggs", "quantity": 6}],
        }
        written = await table.client.post("/api/alfred/write", json={"request": eggs})
        assert written.status_code == 200, written.text
        assert (await table.client.post("/api/alfred/undo")).status_code == 200
        begun = (await table.client.post("/api/alfred/sessions", json={})).json()
        path = f"/api/alfred/sessions/{begun['session_id']}"
        said = {"message": "add milk to the shopping list"}
        answer = await table.client.post(f"{path}/messages", json=said)
        assert answer.status_code == 200, answer.text
        assert (await table.client.post(f"{path}/undo", json={})).status_code == 200
        assert sorted(told(table.studio)) == [
            ("alfred.undo", "succeeded", False),
            ("alfred.undo", "succeeded", True),
            ("alfred.write", "succeeded", False),
            ("alfred.write", "succeeded", True),
            ("callboard.create_session", "succeeded", False),
        ]


async def test_a_refused_write_is_on_record_as_failed(household: Household) -> None:
    async with household.serve() as table:
        wrong = {"op": "create", "table": "shopping_items", "records": [{"colour": "red"}]}
        answer = await table.client.post("/api/alfred/write", json={"request": wrong})
        assert answer.status_code >= 400
        assert told(table.studio) == [("alfred.write", "failed", False)]

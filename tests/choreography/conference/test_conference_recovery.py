"""A round that is cut off anywhere goes on where it was: no call twice, no nonce wasted."""

import contextlib
import json

import pytest
from hall_cast import nonce_in, search, viewing
from hallway import OpenHall

from callboard.choreography.conference import Conferences, ReplyStatus
from callboard.core.vocabulary import RunState
from callboard.engine.errors import Halt
from callboard.models import ModelRequest, Script
from callboard.store.connection import StoreError
from callboard.store.journal.runs import list_runs
from callboard.testing import Blackout, Moment
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


def chief(request: ModelRequest) -> str | None:
    """Call once, then stop; remembers nothing, as a model that is asked again after a crash."""
    if request.prompt_type == "conference_lead":
        return json.dumps({**search("Kael"), "nonce": nonce_in(request)})
    if request.prompt_type == "conference_lead_next":
        return json.dumps({"action": "final", "nonce": nonce_in(request)})
    return None


@pytest.mark.req("CR-15", "CR-21", "CR-85")
@pytest.mark.parametrize("nth", range(6, 46, 3))
async def test_a_round_survives_a_power_cut(open_hall: OpenHall, nth: int) -> None:
    cut = Blackout(Moment("store.before_commit", nth))
    with contextlib.suppress(Halt, StoreError):
        async with open_hall(Script(chief, viewing()), cut) as studio:
            run = await Conferences(studio, "hall").hold_round("Hello.", agents=["writer"])
            await studio.engine.wait(run.id)
    async with open_hall(Script(chief, viewing())) as studio:
        hall = Conferences(studio, "hall")
        runs = studio.database.read(lambda connection: list_runs(connection))
        assert len(runs) == 1
        done = await studio.engine.wait(runs[0].id)
        assert done.state is RunState.DONE, done.error
        held = hall.round(done.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=done.session_id))
        issues = studio.issues.list()
    assert [each.id for each in receipts] == list(held.receipt_ids)
    assert len(receipts) == 1
    assert [each.status for each in held.replies] == [ReplyStatus.ACCEPTED] * 2
    assert [each.id for each in issues] == [held.issue_id]
    assert "refused" not in issues[0].body

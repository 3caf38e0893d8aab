"""A conference whose agents have a minimal model: code prepares, the model picks."""

import json
import re

import pytest
from hallway import OpenHall

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import Conferences, ReplyStatus
from callboard.core.vocabulary import RunState
from callboard.models import ModelRequest, Script
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio

MINIMAL = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}


def tiny(request: ModelRequest) -> str:
    """Talk like a tiny model: the first choice wherever there is one, else a plain sentence."""
    schema = request.json_schema or {}
    choices = schema.get("properties", {}).get("choice", {}).get("enum")
    if choices is None:
        return "Kael comes to the gate in the snow. Evidence: none needed."
    return json.dumps({"choice": choices[-1] if "enough" in choices else choices[0]})


@pytest.mark.req("CR-10", "CR-11", "CR-18")
async def test_every_reply_of_a_small_model_is_grounded(open_hall: OpenHall) -> None:
    script = Script(tiny)
    async with open_hall(script, **MINIMAL) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Check what Kael carries.")
        done = await studio.engine.wait(run.id)
        assert done.state is RunState.DONE, done.error
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    assert [each.tool for each in receipts] == ["search_text"]
    assert [(each.agent_id, each.status) for each in held.replies] == [
        (agent, ReplyStatus.ACCEPTED)
        for agent in ("chief", "planner", "writer", "editor", "critic")
    ]
    assert all(each.evidence for each in held.replies)
    writer = held.reply_of("writer")
    assert writer is not None
    assert re.search(r'Story/Scenes/SCN-\S+\.md.*"', writer.evidence)
    # No model was ever shown a nonce or asked to write a call.
    assert not any("nonce" in prompt for prompt in script.prompts)


async def test_a_small_chief_is_offered_only_what_is_allowed(open_hall: OpenHall) -> None:
    script = Script(tiny)
    async with open_hall(script, **MINIMAL) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Hello.", policy=ToolPolicy(("find_files",)))
        await studio.engine.wait(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    assert [each.tool for each in receipts] == ["find_files"]


@pytest.mark.req("CR-17")
async def test_without_a_call_to_pick_a_required_tool_is_missed(open_hall: OpenHall) -> None:
    script = Script(tiny)
    policy = ToolPolicy(("text_stats",), require_tool=True)
    async with open_hall(script, **MINIMAL) as studio:
        run = await Conferences(studio, "hall").hold_round("Hello.", policy=policy)
        failed = await studio.engine.wait(run.id)
    assert failed.error is not None
    assert failed.error.code == "tool_required_not_called"
    assert script.calls == []

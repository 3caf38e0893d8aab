"""Agent cards: what each agent is doing, told as it changes."""

import pytest
from hall_cast import leading, search, viewing
from hallway import OpenHall

from callboard.choreography.conference import Conferences
from callboard.choreography.staffing import CardState, agents_now
from callboard.core.events import AgentState
from callboard.models import Line, Script
from callboard.store.journal.events import read_events

pytestmark = pytest.mark.anyio


@pytest.mark.req("CR-07")
async def test_cards_show_executing_processing_and_idle(open_hall: OpenHall) -> None:
    held = Line("Wait.", agent="writer", prompt_type="conference_view", hold="view")
    script = Script(held, leading(search("Kael")), viewing())
    async with open_hall(script) as studio:
        assert set(agents_now(studio, "hall").values()) == {CardState.IDLE}
        run = await Conferences(studio, "hall").hold_round("Hello.", agents=["writer"])
        await script.reached("view")
        async for event in studio.engine.events(run_id=run.id):
            if event.body == AgentState("writer", "processing"):
                break
        assert agents_now(studio, "hall")["writer"] is CardState.PROCESSING
        script.release("view")
        await studio.engine.wait(run.id)
        events = studio.database.read(lambda c: read_events(c, run_id=run.id))
        assert agents_now(studio, "hall")["writer"] is CardState.IDLE
    told = [e.body for e in events if isinstance(e.body, AgentState)]
    chief = [each.state for each in told if each.agent_id == "chief"]
    assert chief[:5] == ["processing", "idle", "executing", "idle", "processing"]
    assert [each.state for each in told if each.agent_id == "writer"] == ["processing", "idle"]


@pytest.mark.req("CR-07")
async def test_what_a_dead_process_left_is_not_believed(open_hall: OpenHall) -> None:
    script = Script(Line("Never.", agent="chief", hold="lead"), viewing())
    async with open_hall(script) as studio:
        await Conferences(studio, "hall").hold_round("Hello.")
        await script.reached("lead")
    async with open_hall(Script(Line(hang=True)), engine={"resume_on_start": "manual"}) as studio:
        assert set(agents_now(studio, "hall").values()) == {CardState.IDLE}

"""Breaks: the turn asks and waits, through restarts; nothing is written before the user's word."""

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours

from callboard.choreography.turn.answering import expire
from callboard.choreography.turn.remembering import SessionState
from callboard.choreography.turn.shapes import Option, PendingClarification
from callboard.core.vocabulary import RunState
from callboard.knowledge.entities import Registry
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import list_runs
from callboard.testing import Line

pytestmark = pytest.mark.anyio
LISTEN = Line(json={}, prompt_type="understand", times=None)


def plan_line(count: int, **more) -> Line:
    records = [{"description": f"Day {number}"} for number in range(1, count + 1)]
    plan = {
        "goal": f"Plan {count} days",
        "needs_proposal": True,
        "proposal_message": f"I would plan {count} days.",
        "steps": [
            {
                "description": "Look at documents",
                "step_type": "read",
                "subdomain": "files",
                "query": {"table": "documents"},
            },
            {
                "description": "Look at contacts",
                "step_type": "read",
                "subdomain": "communications",
                "query": {"table": "contacts"},
            },
            {
                "description": "Write the days",
                "step_type": "write",
                "subdomain": "calendar",
                "group": 1,
                "write": {"op": "create", "table": "tasks", "records": records},
            },
        ],
    }
    return Line(json=plan, prompt_type="think", **more)


@pytest.mark.req("AL-36", "AL-46", "AL-82", "AL-86", "AL-87", "AL-89", "AL-90")
async def test_a_plan_is_proposed_changed_and_carried_out_once(domain, parlour_of: Parlours):
    async with parlour_of(domain, LISTEN, plan_line(3), plan_line(4)) as parlour:
        await parlour.say("add document Notes", mode="quick")
        asked = await parlour.say("prepare my days", mode="plan")
        if asked.action == "clarify":  # nothing is known about this user yet
            asked = await parlour.say("nothing special")
        assert asked.action == "propose"
        assert "3 days" in asked.message
        assert "Nothing is saved yet" in asked.message
        assert await parlour.names("tasks") == []
        changed = await parlour.say("make it 4")
        assert changed.action == "propose"
        assert "4 days" in changed.message
        assert await parlour.names("tasks") == []
        done = await parlour.say("yes")
        assert done.action == "respond"
        assert await parlour.names("tasks") == ["Day 1", "Day 2", "Day 3", "Day 4"]
        assert "think" not in [call["node"] for call in done.calls]
        runs = parlour.studio.database.read(list_runs)
        assert runs[0].state is RunState.DONE


@pytest.mark.req("AL-90")
async def test_no_writes_nothing_and_says_so(domain, parlour_of: Parlours):
    async with parlour_of(domain, LISTEN, plan_line(3)) as parlour:
        asked = await parlour.say("prepare my days", mode="plan")
        if asked.action == "clarify":
            asked = await parlour.say("nothing special")
        said = await parlour.say("no")
        assert "nothing was saved" in said.message
        assert await parlour.names("tasks") == []
        assert said.pending_proposal is None


@pytest.mark.req("AL-90")
async def test_an_unrelated_request_drops_what_was_asked_and_says_so_once(
    tiny: TinyDomain, parlour_of: Parlours
):
    async with parlour_of(tiny, LISTEN, plan_line(3)) as parlour:
        await parlour.say("prepare my days", mode="plan")
        said = await parlour.say("add document Budget")
        assert "dropped what I had asked" in said.message
        assert await parlour.names("documents") == ["Budget"]
        assert said.pending_proposal is None
        assert "dropped" not in (await parlour.say("show documents")).message


@pytest.mark.req("AL-41", "AL-86", "AL-91")
async def test_the_answer_may_come_days_later_in_another_process_by_any_door(
    tiny: TinyDomain, parlour_of: Parlours
):
    async with parlour_of(tiny, LISTEN, plan_line(3)) as parlour:
        asked = await parlour.say("prepare my days", mode="plan")
        assert asked.action == "propose"
        session = parlour.session
    async with parlour_of(tiny, session=session) as parlour:
        (question,) = parlour.studio.database.read(list_questions)
        assert "3 days" in question.question.text
        await parlour.studio.engine.answer(question.id, "yes")
        ended = await parlour.studio.engine.wait(question.run_id)
        assert ended.state is RunState.DONE, ended.error
        assert tiny.names("tasks") == ["Day 1", "Day 2", "Day 3"]
        turns = parlour.talk.turns(session)
        assert [(each["turn"], each["user"]) for each in turns] == [
            (1, "prepare my days"),
            (2, "yes"),
        ]


@pytest.mark.req("AL-25", "AL-83", "AL-86", "AL-26", "AL-39")
async def test_ambiguity_is_asked_about_and_the_answer_goes_on_with_the_request(
    tiny: TinyDomain, parlour_of: Parlours
):
    ids = tiny.seed("ann", "documents", "Red plan", "Blue plan")
    plan = {
        "goal": "Note it",
        "steps": [
            {
                "description": "Add a task for the document",
                "step_type": "write",
                "subdomain": "calendar",
                "referenced_entities": [ids[1]],
                "write": {
                    "op": "create",
                    "table": "tasks",
                    "records": [{"description": "Read it", "document_id": ids[1]}],
                },
            }
        ],
    }
    think = Line(json=plan, prompt_type="think")
    async with parlour_of(tiny, LISTEN, think) as parlour:
        await parlour.say("show documents", mode="quick")
        asked = await parlour.say("put that one on my list for Tuesday", mode="plan")
        assert asked.action == "clarify"
        assert "Red plan" in asked.message
        assert "Blue plan" in asked.message
        assert asked.pending_clarification is not None
        assert tiny.names("tasks") == []
        assert not [call for call in parlour.script.calls if call.request.prompt_type == "think"]
        session = parlour.session
    async with parlour_of(tiny, LISTEN, think, session=session) as parlour:
        done = await parlour.say("the second")
        assert done.action == "respond"
        assert done.turn == 3
        assert next(iter(tiny.rows["tasks"].values()))["document_id"] == ids[1]
        prompt = parlour.script.calls[-1].prompt
        assert "put that one on my list for Tuesday" in prompt
        assert "Blue plan" in prompt


@pytest.mark.req("AL-84", "AL-88")
async def test_quick_assumes_and_says_so_but_asks_before_it_destroys(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Red plan", "Blue plan")
    read = Line(
        json={
            "steps": [
                {
                    "description": "Count",
                    "step_type": "read",
                    "subdomain": "calendar",
                    "query": {"table": "tasks", "count_only": True},
                }
            ]
        },
        prompt_type="quick",
        times=None,
    )
    async with parlour_of(tiny, read) as parlour:
        await parlour.say("show documents", mode="quick")
        assumed = await parlour.say("how many tasks has that one")
        assert assumed.action == "respond"
        assert "Assumed Blue plan" in assumed.message
        await parlour.say("show documents")
        asked = await parlour.say("delete that one")
        assert asked.action == "clarify"
        assert len(tiny.names("documents")) == 2


@pytest.mark.req("AL-91", "AL-143")
async def test_what_changed_since_is_proposed_again(tiny: TinyDomain, parlour_of: Parlours):
    tiny.seed("ann", "documents", "One", "Two")
    async with parlour_of(tiny) as parlour:
        await parlour.say("delete all documents", mode="quick")
        tiny.seed("ann", "documents", "Three")
        again = await parlour.say("yes")
        assert again.action == "propose"
        assert "changed" in again.message
        assert len(tiny.names("documents")) == 3
        assert (await parlour.say("yes")).action == "respond"
        assert tiny.names("documents") == []


@pytest.mark.req("AL-91")
def test_a_question_lapses_after_five_turns_or_with_what_it_was_about():
    asked = PendingClarification(
        source="understand",
        questions=["Which?"],
        original_intent="x",
        options=[Option(id="a", label="A")],
        turn_asked=1,
    )
    from callboard.core.vocabulary import Entity, EntityState

    registry = Registry([Entity("a", "document", "A", state=EntityState.ACTIVE)])
    state = SessionState(clarification=asked)
    assert not expire(state, registry, 6)
    assert expire(state, registry, 7)
    assert state.clarification is None
    state = SessionState(clarification=asked)
    registry.transition("a", EntityState.INACTIVE, 2)
    assert expire(state, registry, 3)


@pytest.mark.req("AL-91")
async def test_at_most_three_questions_and_two_breaks_in_a_row(
    tiny: TinyDomain, parlour_of: Parlours
):
    unclear = {
        "needs_clarification": True,
        "clarification_questions": ["One?", "Two?", "Three?", "Four?"],
        "clarification_reason": "missing_info",
    }
    plan = {"goal": "Look", "steps": []}
    lines = (
        Line(json=unclear, prompt_type="understand"),
        Line(json={"answer": "answer"}, prompt_type="understand", times=None),
        Line(json=plan, prompt_type="think", times=None),
        Line("There is nothing to do.", prompt_type="reply", times=None),
    )
    async with parlour_of(tiny, *lines) as parlour:
        asked = await parlour.say("do the usual", mode="plan")
        assert asked.pending_clarification is not None
        assert asked.pending_clarification.questions == ["One?", "Two?", "Three?"]
        assert (await parlour.say("the first of May")).action == "respond"


@pytest.mark.req("AL-78", "AL-83")
async def test_a_user_nothing_is_known_about_is_asked_once_before_a_big_plan(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.is_profile_empty = True
    async with parlour_of(tiny, LISTEN, plan_line(3), plan_line(3)) as parlour:
        asked = await parlour.say("prepare my days", mode="plan")
        assert asked.action == "clarify"
        assert "Which projects" in asked.message
        assert (await parlour.say("the garden")).action == "propose"
        await parlour.say("no")
        assert (await parlour.say("prepare my days")).action == "propose"

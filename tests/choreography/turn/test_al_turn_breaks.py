"""Breaks: the turn asks and waits, through restarts; nothing is written before the user's word."""

from typing import Any

import pytest
from tiny_domain import TinyDomain
from turn_parlour import OFFICE, WHO, Parlours, Words, put_rows, words_of

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.memory import TalkState
from callboard.choreography.turn.shapes import Option, PendingClarification
from callboard.choreography.turn.turn import SomebodyElses
from callboard.choreography.turn.understanding.answers import expire
from callboard.core.vocabulary import RunState
from callboard.knowledge.entities import EntityRegistry
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import list_runs
from callboard.testing import Line

pytestmark = pytest.mark.anyio
LISTEN = Line(json={}, prompt_type="understand", times=None)


def plan_line(count: int, words: Words = OFFICE, **more) -> Line:
    records = [{"description": f"Day {number}"} for number in range(1, count + 1)]
    looks = [
        {
            "description": f"Look at {table}",
            "step_type": "read",
            "subdomain": subdomain,
            "query": {"table": table},
        }
        for table, subdomain in words.looks
    ]
    plan = {
        "goal": f"Plan {count} days",
        "needs_proposal": True,
        "proposal_message": f"I would plan {count} days.",
        "steps": [
            *looks,
            {
                "description": "Write the days",
                "step_type": "write",
                "subdomain": words.calendar,
                "group": 1,
                "write": {"op": "create", "table": "tasks", "records": records},
            },
        ],
    }
    return Line(json=plan, prompt_type="think", **more)


@pytest.mark.req("AL-36", "AL-46", "AL-82", "AL-86", "AL-87", "AL-89", "AL-90")
async def test_a_plan_is_proposed_changed_and_carried_out_once(domain, parlour_of: Parlours):
    words = words_of(domain)
    lines = (LISTEN, plan_line(3, words), plan_line(4, words))
    async with parlour_of(domain, *lines) as parlour:
        await parlour.put(words.looks[0][0], "Notes")
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
    async with parlour_of(domain, LISTEN, plan_line(3, words_of(domain))) as parlour:
        asked = await parlour.say("prepare my days", mode="plan")
        if asked.action == "clarify":
            asked = await parlour.say("nothing special")
        assert asked.action == "propose"
        said = await parlour.say("no")
        assert "nothing was saved" in said.message
        assert await parlour.names("tasks") == []
        assert said.pending_proposal is None


@pytest.mark.req("AL-90")
async def test_an_unrelated_request_drops_what_was_asked_and_says_so_once(
    domain, parlour_of: Parlours
):
    words = words_of(domain)
    async with parlour_of(domain, LISTEN, plan_line(3, words)) as parlour:
        asked = await parlour.say("prepare my days", mode="plan")
        if asked.action == "clarify":
            asked = await parlour.say("nothing special")
        assert asked.action == "propose"
        said = await parlour.say(words.add.format("Budget"))
        assert "dropped what I had asked" in said.message
        assert await parlour.names(words.things) == ["Budget"]
        assert said.pending_proposal is None
        assert "dropped" not in (await parlour.say(words.show)).message


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
    domain, parlour_of: Parlours
):
    words = words_of(domain)
    await put_rows(domain, WHO, words.things, "Red plan", "Blue plan")
    plan = {
        "goal": "Note it",
        "steps": [
            {
                "description": "Note it on the list",
                "step_type": "write",
                "subdomain": words.calendar,
                "write": {
                    "op": "create",
                    "table": "tasks",
                    "records": [{"description": "Read it on Tuesday"}],
                },
            }
        ],
    }
    think = Line(json=plan, prompt_type="think")
    async with parlour_of(domain, LISTEN, think) as parlour:
        await parlour.say(words.show, mode="quick")
        asked = await parlour.say("tell Bo about that one on Tuesday", mode="plan")
        assert asked.action == "clarify"
        assert asked.pending_clarification is not None
        options = [each.label for each in asked.pending_clarification.options]
        assert sorted(options) == ["Blue plan", "Red plan"]
        assert all(each in asked.message for each in options)
        assert "Read it on Tuesday" not in await parlour.names("tasks")
        assert not [call for call in parlour.script.calls if call.request.prompt_type == "think"]
        again = await parlour.say("yes")
        assert (again.action, again.message) == ("clarify", asked.message)
        session = parlour.session
    async with parlour_of(domain, LISTEN, think, session=session) as parlour:
        done = await parlour.say("the second")
        assert done.action == "respond"
        assert done.turn == 4
        assert "Read it on Tuesday" in await parlour.names("tasks")
        calls = parlour.script.calls
        (prompt,) = [call.prompt for call in calls if call.request.prompt_type == "think"]
        assert "tell Bo about that one on Tuesday" in prompt
        assert options[1] in prompt
        assert options[0] not in prompt


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
async def test_what_changed_since_is_proposed_again(domain, parlour_of: Parlours):
    words = words_of(domain)
    async with parlour_of(domain) as parlour:
        await parlour.put(words.cleared, "milk", "rice")
        assert (await parlour.say(words.clear, mode="quick")).action == "propose"
        await parlour.put(words.cleared, "salt")
        again = await parlour.say("yes")
        assert again.action == "propose"
        assert "changed" in again.message
        assert len(await parlour.names(words.cleared)) == 3
        assert (await parlour.say("yes")).action == "respond"
        assert await parlour.names(words.cleared) == []


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

    registry = EntityRegistry([Entity("a", "document", "A", state=EntityState.ACTIVE)])
    state = TalkState(clarification=asked)
    assert not expire(state, registry, 6)
    assert expire(state, registry, 7)
    assert state.clarification is None
    state = TalkState(clarification=asked)
    registry.transition("a", EntityState.INACTIVE, 2)
    assert expire(state, registry, 3)


@pytest.mark.req("AL-91", "AL-85")
async def test_after_two_breaks_in_a_row_it_goes_on_by_an_assumption_and_says_so(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Red plan", "Blue plan")
    think = Line(json={"goal": "Tell", "steps": [_remark("Bo", group=0)]}, prompt_type="think")
    async with parlour_of(tiny, LISTEN, think) as parlour:
        await parlour.say("show documents", mode="quick")
        first = await parlour.say("tell Bo about that one", mode="plan")
        assert first.pending_clarification is not None
        assert (first.action, first.pending_clarification.times) == ("clarify", 1)
        second = await parlour.say("yes")
        assert second.pending_clarification is not None
        assert (second.action, second.pending_clarification.times) == ("clarify", 2)
        assert tiny.names("contacts") == []
        third = await parlour.say("yes")
        assert third.action == "respond"
        assert f"Assumed {first.pending_clarification.options[0].label}" in third.message
        assert tiny.names("contacts") == ["Bo"]


@pytest.mark.req("AL-91")
async def test_at_most_three_questions_are_asked_at_once(tiny: TinyDomain, parlour_of: Parlours):
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


@pytest.mark.req("AL-29", "AL-90")
@pytest.mark.parametrize("answer", ["yes, make it 4", "ok only 4 days", "sure, and 4 of them"])
async def test_a_yes_with_a_change_is_no_yes(tiny: TinyDomain, parlour_of: Parlours, answer: str):
    async with parlour_of(tiny, LISTEN, plan_line(3), plan_line(4)) as parlour:
        await parlour.say("prepare my days", mode="plan")
        changed = await parlour.say(answer)
        assert changed.action == "propose"
        assert "4 days" in changed.message
        assert tiny.names("tasks") == []
        assert (await parlour.say("yes please, do it")).action == "respond"
        assert len(tiny.names("tasks")) == 4


@pytest.mark.req("AL-90")
async def test_undoing_instead_of_answering_drops_the_question_and_says_so(
    tiny: TinyDomain, parlour_of: Parlours
):
    async with parlour_of(tiny, LISTEN, plan_line(3)) as parlour:
        await parlour.say("add document Budget", mode="quick")
        await parlour.say("prepare my days", mode="plan")
        said = await parlour.say("undo that")
        assert "Undone" in said.message
        assert "dropped what I had asked" in said.message
        assert said.pending_proposal is None
        assert (tiny.names("documents"), tiny.names("tasks")) == ([], [])


@pytest.mark.req("AL-104", "AL-89")
async def test_what_is_done_before_the_rest_is_asked_about_is_told(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "tasks", "One", "Two")
    note = {
        "description": "Note Bo",
        "step_type": "write",
        "subdomain": "communications",
        "write": {"op": "create", "table": "contacts", "records": [{"name": "Bo"}]},
    }
    everything = {"not": {"field": "description", "op": "is", "value": None}}
    clear = {
        "description": "Clear the tasks",
        "step_type": "write",
        "subdomain": "calendar",
        "write": {"op": "delete", "table": "tasks", "filters": [everything]},
    }
    quick = Line(json={"steps": [note, clear]}, prompt_type="quick")
    async with parlour_of(tiny, quick) as parlour:
        asked = await parlour.say("bo is in and the rest may go", mode="quick")
        assert asked.action == "propose"
        assert "Done already: Added Bo" in asked.message
        assert "Nothing is saved yet" not in asked.message
        refused = await parlour.say("no")
        assert "nothing more was saved" in refused.message
        assert (tiny.names("contacts"), tiny.names("tasks")) == (["Bo"], ["One", "Two"])


@pytest.mark.req("AL-53", "AL-89")
async def test_a_yes_holds_for_the_plan_that_was_shown_and_no_other(
    tiny: TinyDomain, parlour_of: Parlours
):
    """What is planned anew after the yes is asked about before it writes."""
    tiny.seed("ann", "documents", "Notes")
    shown = plan_line(3)
    first = {**shown.json, "steps": [*shown.json["steps"], _remark("As planned", group=2)]}
    other = {"goal": "Otherwise", "steps": [_remark("Something else", group=2)]}
    lines = (
        Line(json=other, prompt_type="think", matching="cannot be written now"),
        Line(json=first, prompt_type="think"),
    )
    async with parlour_of(tiny, LISTEN, *lines) as parlour:
        assert (await parlour.say("prepare my days", mode="plan")).action == "propose"
        tiny.refuse_tables = {"tasks"}
        again = await parlour.say("yes")
        assert again.action == "propose"
        assert tiny.names("contacts") == []
        await parlour.say("yes")
        assert tiny.names("contacts") == ["Something else"]


def _remark(name: str, group: int) -> dict[str, Any]:
    return {
        "description": f"Note {name}",
        "step_type": "write",
        "subdomain": "communications",
        "group": group,
        "write": {"op": "create", "table": "contacts", "records": [{"name": name}]},
    }


@pytest.mark.req("AL-32", "AL-86")
@pytest.mark.parametrize("wish", ["save that", "yes"])
async def test_which_of_several_is_asked_and_the_pick_does_what_was_wanted(
    tiny: TinyDomain, parlour_of: Parlours, wish: str
):
    step = {
        "description": "Draft a letter",
        "step_type": "generate",
        "subdomain": "files",
        "content_type": "document",
    }
    think = Line(json={"goal": "Write", "steps": [step, step]}, prompt_type="think")
    drafts = [
        Line(json={"name": name, "body": "Dear all"}, prompt_type="act/generate")
        for name in ("Long", "Short")
    ]
    reply = Line("Here you are.", prompt_type="reply", times=None)
    async with parlour_of(tiny, LISTEN, think, *drafts, reply) as parlour:
        await parlour.say("write me two letters", mode="create")
        labels = [each.label for each in parlour.talk.entities(parlour.session)]
        asked = await parlour.say(wish)
        assert asked.action == "clarify"
        assert tiny.names("documents") == []
        done = await parlour.say("the second")
        assert done.action == "respond"
        assert labels[1] in done.message
        assert parlour.states() == {labels[0]: "inactive", labels[1]: "active"}
        assert tiny.names("documents") == ([labels[1]] if wish == "save that" else [])
        nodes = [call["node"] for call in done.calls]
        assert "think" not in nodes


@pytest.mark.req("AL-124", "AL-131")
async def test_nobody_talks_in_somebody_elses_conversation(domain, parlour_of: Parlours):
    words = words_of(domain)
    async with parlour_of(domain) as parlour:
        await parlour.put(words.cleared, "milk", "rice")
        assert (await parlour.say(words.clear, mode="quick")).action == "propose"
        parlour.who = Who("bob")
        for message in ("yes", words.show, "undo that"):
            with pytest.raises(SomebodyElses, match="somebody else"):
                await parlour.say(message)
        with pytest.raises(SomebodyElses):
            await parlour.talk.end(parlour.session, parlour.who)
        parlour.who = WHO
        assert await parlour.names(words.cleared) == ["milk", "rice"]
        assert parlour.talk.owner(parlour.session) == "ann"
        assert (await parlour.say("yes")).action == "respond"
        assert await parlour.names(words.cleared) == []

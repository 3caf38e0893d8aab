"""Rounds of a conference: evidence once, views apart, transcript at the end."""

import json
import re
from pathlib import Path

import pytest
from hall_cast import QUOTE, leading, search, viewing
from hallway import OpenHall

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import Conferences, ReplyStatus, RoundStatus
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import ReceiptOutcome, RunState
from callboard.models import Failure, Line, ModelRequest, Script
from callboard.store.journal.runs import list_runs
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio

QUESTION = "What do you make of the first scene?"


def prompts_of(script: Script, prompt_type: str) -> dict[str, str]:
    return {
        call.request.agent_id or "": call.prompt
        for call in script.calls
        if call.request.prompt_type == prompt_type
    }


def table_of(prompt: str) -> str:
    """Return the evidence in a prompt, as it stands there."""
    found = re.search(r"<data origin=\"tools\".*?</data>", prompt, re.S)
    assert found is not None
    return found[0]


def story_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*.md")}


@pytest.mark.req("CR-10", "CR-11", "CR-12", "CR-14", "CR-15", "CR-22", "CR-88")
async def test_scenario_9_evidence_once_views_apart_transcript_kept(open_hall: OpenHall) -> None:
    calls = (search("Kael"), search("brass key"), search("Mira"))
    script = Script(leading(*calls), viewing())
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION)
        done = await studio.engine.wait(run.id)
        assert done.state is RunState.DONE, done.error
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
        issue = studio.issues.get(held.issue_id or 0)
    assert len(receipts) == 3
    assert held.status is RoundStatus.CLOSED
    assert [each.agent_id for each in held.replies] == [
        "chief",
        "planner",
        "writer",
        "editor",
        "critic",
    ]
    assert {each.status for each in held.replies} == {ReplyStatus.ACCEPTED}
    # K calls and one final in phase 1, one call per attendee in phase 2.
    assert len(script.calls) == 3 + 1 + 5
    views = prompts_of(script, "conference_view")
    packs = {
        re.search(r"<data origin=\"tools\".*?</data>", text, re.S)[0] for text in views.values()
    }  # type: ignore[index]
    assert len(packs) == 1
    assert all(each.id in packs.copy().pop() for each in receipts)
    for agent, prompt in views.items():
        assert not any(f"The {other} has a view" in prompt for other in views if other != agent)
        assert "nonce" not in prompt
        assert "search_text:" not in prompt
    assert issue.title == f"Conference {run.session_id} — Turn 1"
    assert set(issue.receipt_ids) == {each.id for each in receipts}
    assert "The writer has a view." in issue.body
    assert QUESTION in issue.body


@pytest.mark.req("CR-12")
async def test_order_of_the_roster_cannot_be_read_off_a_prompt(open_hall: OpenHall) -> None:
    async def hold(agents: list[str]) -> dict[str, str]:
        script = Script(leading(search("Kael")), viewing())
        async with open_hall(script) as studio:
            run = await Conferences(studio, "hall").hold_round(QUESTION, agents=agents)
            assert (await studio.engine.wait(run.id)).state is RunState.DONE
        views = prompts_of(script, "conference_view")
        # Every execution has a receipt of its own; all else must be the same, byte for byte.
        return {agent: re.sub(r"rcpt_\w+", "rcpt", text) for agent, text in views.items()}

    forward = await hold(["chief", "planner", "writer", "critic"])
    assert await hold(["critic", "writer", "planner", "chief"]) == forward
    assert len(forward) == 4


@pytest.mark.req("CR-15")
async def test_the_next_round_knows_nothing_of_the_one_before(open_hall: OpenHall) -> None:
    script = Script(leading(search("Kael")), viewing(writer=f"Snow, I say.\n\n{QUOTE}"))
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        first = await hall.hold_round("What about the weather?")
        await studio.engine.wait(first.id)
        conference_id = str(first.args["conference_id"])
        heard = len(script.calls)
        second = await hall.hold_round(QUESTION, conference_id=conference_id)
        await studio.engine.wait(second.id)
        conference = hall.get(conference_id)
        titles = [each.title for each in studio.issues.list()]
        assert [each.conference_id for each in hall.list()] == [conference_id]
    later = [call.prompt for call in script.calls[heard:]]
    assert later
    assert not any("weather" in prompt or "Snow, I say" in prompt for prompt in later)
    assert [each.number for each in conference.rounds] == [1, 2]
    assert [each.user_message for each in conference.rounds] == [
        "What about the weather?",
        QUESTION,
    ]
    assert sorted(titles) == [f"Conference {first.session_id} — Turn {n}" for n in (1, 2)]


@pytest.mark.req("CR-16")
async def test_a_disallowed_call_is_refused_and_nothing_runs(open_hall: OpenHall) -> None:
    script = Script(
        leading({"tool": "text_stats", "args": {"path": "Notes/todo.md"}}, search("Kael")),
        viewing(),
    )
    policy = ToolPolicy(("search_text",))
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION, policy=policy)
        await studio.engine.wait(run.id)
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
        issue = studio.issues.get(held.issue_id or 0)
    ran = [each for each in receipts if each.outcome is ReceiptOutcome.SUCCEEDED]
    assert [each.tool for each in ran] == ["search_text"]
    assert [each.outcome for each in receipts if each.tool == "text_stats"] == [
        ReceiptOutcome.REFUSED
    ]
    assert held.receipt_ids == tuple(each.id for each in ran)
    assert "tool_call_not_allowed" in issue.body
    first = next(c.prompt for c in script.calls if c.request.prompt_type == "conference_lead")
    assert "- search_text:" in first
    assert "text_stats" not in first


@pytest.mark.req("CR-16")
async def test_an_unknown_tool_in_the_policy_is_refused_before_anything_starts(
    open_hall: OpenHall,
) -> None:
    script = Script()
    async with open_hall(script) as studio:
        with pytest.raises(InvalidInput, match="no_such_tool"):
            await Conferences(studio, "hall").hold_round(
                QUESTION, policy=ToolPolicy(("no_such_tool",))
            )
        assert studio.database.read(lambda c: list_runs(c)) == []


@pytest.mark.req("CR-02", "CR-16")
async def test_tools_with_effects_are_never_within_reach(
    open_hall: OpenHall, fortress: Path
) -> None:
    write = {"tool": "write_file", "args": {"path": "Story/new.md", "text": "No."}}
    script = Script(leading(write, search("Kael")), viewing())
    before = story_of(fortress)
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION, policy=ToolPolicy(("write_file", "search_text")))
        await studio.engine.wait(run.id)
        runs = studio.database.read(lambda c: list_runs(c))
    assert story_of(fortress) == before
    assert [each.id for each in runs] == [run.id]


@pytest.mark.req("CR-17")
async def test_a_required_tool_that_is_not_called_ends_the_round(open_hall: OpenHall) -> None:
    script = Script(leading(), viewing())
    policy = ToolPolicy(require_tool=True)
    async with open_hall(script, conference={"max_tool_steps": 3}) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Hello everybody.", policy=policy)
        failed = await studio.engine.wait(run.id)
        held = hall.round(run.id)
        issue = studio.issues.get(held.issue_id or 0)
    assert failed.error is not None
    assert failed.error.code == "tool_required_not_called"
    assert held.status is RoundStatus.FAILED
    assert "tool_required_not_called" in issue.body
    assert prompts_of(script, "conference_view") == {}
    assert len(script.calls) == 3


@pytest.mark.req("CR-17")
async def test_a_message_that_needs_no_tool_may_go_without(open_hall: OpenHall) -> None:
    script = Script(leading(), viewing())
    async with open_hall(script) as studio:
        run = await Conferences(studio, "hall").hold_round("Hello everybody.")
        done = await studio.engine.wait(run.id)
    assert done.state is RunState.DONE
    assert len(script.calls) == 1 + 5
    views = prompts_of(script, "conference_view")
    assert all("No tool evidence was gathered" in prompt for prompt in views.values())


async def test_a_message_that_asks_to_check_a_scene_needs_a_tool(open_hall: OpenHall) -> None:
    script = Script(leading(), viewing())
    async with open_hall(script, conference={"max_tool_steps": 2}) as studio:
        run = await Conferences(studio, "hall").hold_round("Check what Kael carries.")
        failed = await studio.engine.wait(run.id)
    assert failed.error is not None
    assert failed.error.code == "tool_required_not_called"
    assert "conference_lead_required" in {call.request.prompt_type for call in script.calls}


@pytest.mark.req("CR-21")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("I would search for Kael.", "tool_call_invalid_format"),
        ('```json\n{"tool": "search_text"}\n```', "tool_call_invalid_format"),
        ('{"tool": "a"} {"tool": "b"}', "tool_call_multiple"),
        ({"tool": "no_such_tool", "args": {}}, "tool_call_unknown_tool"),
        ({"tool": "search_text", "args": {"words": "x"}}, "tool_call_invalid_args"),
        ({**search("x"), "nonce": "nonce_made_up.0000000000000000"}, "tool_call_nonce_invalid"),
    ],
)
async def test_a_call_that_breaks_the_protocol_runs_nothing(
    open_hall: OpenHall, said: object, code: str
) -> None:
    script = Script(leading(said, search("Kael")), viewing())  # type: ignore[arg-type]
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION)
        done = await studio.engine.wait(run.id)
        assert done.state is RunState.DONE, done.error
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
        issue = studio.issues.get(held.issue_id or 0)
    succeeded = [each for each in receipts if each.outcome is ReceiptOutcome.SUCCEEDED]
    assert [each.args["text"] for each in succeeded] == ["Kael"]
    assert f"refused, nothing ran: {code}" in issue.body
    told = [c.prompt for c in script.calls if c.request.prompt_type == "conference_lead_refused"]
    assert len(told) == 1
    assert code in told[0]


@pytest.mark.req("CR-21", "CR-85")
async def test_a_nonce_of_an_earlier_step_is_worth_nothing(open_hall: OpenHall) -> None:
    seen: list[str] = []

    def chief(request: ModelRequest) -> str | None:
        if not (request.prompt_type or "").startswith("conference_lead"):
            return None
        nonce = re.findall(r'"nonce": "([^"]+)"', request.messages[-1].content)[-1]
        seen.append(nonce)
        if len(seen) == 3:
            return json.dumps({"action": "final", "nonce": nonce})
        return json.dumps({**search("Kael"), "nonce": seen[0]})

    script = Script(chief, viewing())
    async with open_hall(script) as studio:
        run = await Conferences(studio, "hall").hold_round(QUESTION)
        done = await studio.engine.wait(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    assert done.state is RunState.DONE
    assert len(receipts) == 1
    assert receipts[0].nonce == seen[0].partition(".")[0]
    assert len(set(seen)) == 3


@pytest.mark.req("CR-21")
async def test_at_the_step_limit_a_final_is_forced(open_hall: OpenHall) -> None:
    script = Script(leading(*(search(text) for text in ("Kael", "Mira", "snow"))), viewing())
    async with open_hall(script, conference={"max_tool_steps": 2}) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION)
        done = await studio.engine.wait(run.id)
        held = hall.round(run.id)
    assert done.state is RunState.DONE
    assert len(held.receipt_ids) == 2
    assert len(script.calls) == 2 + 5


async def test_findings_are_cut_to_their_limits(open_hall: OpenHall) -> None:
    script = Script(leading(search("the"), search("a"), search("e")), viewing())
    limits = {"max_tool_bytes_per_step": 600, "max_tool_bytes_per_round": 1000}
    async with open_hall(script, conference=limits) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION)
        await studio.engine.wait(run.id)
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    # The third call finds no room left: the Chief is not asked any more.
    assert len(held.receipt_ids) == 2
    view = prompts_of(script, "conference_view")["writer"]
    assert len(table_of(view).encode()) < 1000 + 500
    assert all(len(each.summary) > 600 for each in receipts)


@pytest.mark.req("CR-13", "CR-18", "CR-23", "CR-25", "CR-26")
async def test_scenario_8_the_evidence_gate(open_hall: OpenHall) -> None:
    foreign = Script(leading(search("Kael")), viewing())
    async with open_hall(foreign) as studio:
        other = await studio.sessions.create("other")
        run = await Conferences(studio, "hall").hold_round(QUESTION, session_id=other.id)
        await studio.engine.wait(run.id)
        theirs = Conferences(studio, "hall").round(run.id).receipt_ids[0]
    said = {
        "chief": "No source at all.",
        "planner": f"Two.\n\n{QUOTE}\n{QUOTE}",
        "writer": 'Made up.\n\nEvidence: Story/Scenes/SCN-01-the-gate.md "a dragon came down"',
        "editor": "Invented.\n\nEvidence: receipt_id: rcpt_00000000000000000000000000",
        "critic": f"Theirs.\n\nEvidence: receipt_id: {theirs}",
    }
    script = Script(leading(search("Kael")), viewing(**said))
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        mine = await studio.sessions.create("mine")
        run = await hall.hold_round(QUESTION, session_id=mine.id)
        done = await studio.engine.wait(run.id)
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    assert done.state is RunState.DONE
    assert {each.agent_id: (each.status, each.code) for each in held.replies} == {
        "chief": (ReplyStatus.REJECTED, "evidence_missing"),
        "planner": (ReplyStatus.REJECTED, "evidence_multiple"),
        "writer": (ReplyStatus.REJECTED, "quote_not_found"),
        "editor": (ReplyStatus.REJECTED, "receipt_unknown"),
        "critic": (ReplyStatus.REJECTED, "receipt_foreign_session"),
    }
    # A grounding failure is not a tool failure: the only execution is the Chief's, and it worked.
    assert [each.outcome for each in receipts] == [ReceiptOutcome.SUCCEEDED]
    assert len(prompts_of(script, "conference_view")) == 5
    assert len(script.calls) == 2 + 5


@pytest.mark.req("CR-13")
async def test_bold_evidence_counts_and_an_abstention_says_nothing(open_hall: OpenHall) -> None:
    bold = QUOTE.replace("Evidence:", "**Evidence:**")
    script = Script(leading(), viewing(writer=f"Good.\n\n{bold}", editor=" abstain \n"))
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Hello.", agents=["writer", "editor"])
        await studio.engine.wait(run.id)
        held = hall.round(run.id)
        issue = studio.issues.get(held.issue_id or 0)
    writer, editor = held.reply_of("writer"), held.reply_of("editor")
    assert writer is not None
    assert (writer.status, writer.text) == (ReplyStatus.ACCEPTED, "Good.")
    assert editor is not None
    assert (editor.status, editor.text, editor.code) == (ReplyStatus.ABSTAINED, "", "")
    assert "**Editor** (editor, abstained)" in issue.body


@pytest.mark.req("CR-14")
async def test_a_call_in_phase_two_is_never_executed(open_hall: OpenHall) -> None:
    call = json.dumps({**search("Kael"), "nonce": "nonce_x"})
    script = Script(leading(), viewing(writer=call, editor=f"search_text(text='Kael')\n\n{QUOTE}"))
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Hello.", agents=["writer", "editor"])
        await studio.engine.wait(run.id)
        held = hall.round(run.id)
        assert studio.database.read(lambda c: list_receipts(c)) == []
    statuses = [each.status for each in held.replies if each.agent_id in ("writer", "editor")]
    assert statuses == [ReplyStatus.REJECTED, ReplyStatus.REJECTED]


@pytest.mark.req("CR-19")
async def test_one_that_fails_does_not_disturb_the_others(open_hall: OpenHall) -> None:
    script = Script(
        leading(search("Kael")),
        Line(agent="writer", prompt_type="conference_view", fail=Failure(500, "broken")),
        Line(agent="critic", prompt_type="conference_view", hang=True),
        viewing(),
    )
    async with open_hall(script, conference={"agent_timeout_seconds": 3}) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION)
        done = await studio.engine.wait(run.id)
        held = hall.round(run.id)
    assert done.state is RunState.DONE
    statuses = {each.agent_id: each.status.value for each in held.replies}
    assert statuses == {
        "chief": "accepted",
        "planner": "accepted",
        "writer": "error",
        "editor": "accepted",
        "critic": "error",
    }
    critic = held.reply_of("critic")
    assert critic is not None
    assert critic.code == "agent_timeout"
    assert held.issue_id is not None


@pytest.mark.req("CR-19")
async def test_a_rejected_reply_is_asked_again_only_by_the_user(open_hall: OpenHall) -> None:
    replies = iter(["Nothing to show.", f"Now with proof.\n\n{QUOTE}"])

    def writer(request: ModelRequest) -> str | None:
        is_writer = request.agent_id == "writer" and request.prompt_type == "conference_view"
        return next(replies) if is_writer else None

    script = Script(writer, leading(search("Kael")), viewing())
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round(QUESTION, agents=["writer"])
        await studio.engine.wait(run.id)
        before = hall.round(run.id).reply_of("writer")
        again = await hall.ask_again(run.id, "writer")
        asked = await studio.engine.wait(again.id)
        assert asked.state is RunState.DONE, asked.error
        held = hall.round(run.id)
        titles = [each.title for each in studio.issues.list()]
        with pytest.raises(Exception, match="nothing to ask again"):
            await hall.ask_again(run.id, "writer")
    after = held.reply_of("writer")
    assert before is not None
    assert before.status is ReplyStatus.REJECTED
    assert after is not None
    assert (after.status, after.text) == (ReplyStatus.ACCEPTED, "Now with proof.")
    prompts = [c.prompt for c in script.calls if c.request.agent_id == "writer"]
    assert len(prompts) == 2
    assert prompts[0] == prompts[1]
    assert any(title.endswith("Turn 1, Writer again") for title in titles)


@pytest.mark.req("CR-20")
async def test_the_chief_is_always_there(open_hall: OpenHall, fortress: Path) -> None:
    script = Script(leading(), viewing())
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        run = await hall.hold_round("Hello.", agents=["critic"])
        await studio.engine.wait(run.id)
        assert [each.agent_id for each in hall.round(run.id).replies] == ["chief", "critic"]
    (fortress / ".callboard" / "agents.yaml").write_text("- {id: chief, enabled: false}\n")
    async with open_hall(script) as studio:
        hall = Conferences(studio, "hall")
        with pytest.raises(InvalidInput, match="chief") as refused:
            await hall.hold_round("Hello.")
        with pytest.raises(InvalidInput, match="chief"):
            await hall.open()
    assert refused.value.code == "agent_unavailable"


@pytest.mark.req("CR-22")
async def test_no_more_are_asked_at_once_than_the_settings_say(open_hall: OpenHall) -> None:
    held_back = [Line(f"Yes.\n\n{QUOTE}", prompt_type="conference_view", hold="gate", times=5)]
    script = Script(leading(search("Kael")), *held_back)
    async with open_hall(script, conference={"max_parallel": 2}) as studio:
        run = await Conferences(studio, "hall").hold_round(QUESTION)
        async for event in studio.engine.events(run_id=run.id):
            asked = prompts_of(script, "conference_view")
            if len(asked) == 2:
                break
            assert len(asked) < 2, event
        assert len(asked) == 2
        script.release("gate")
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
    assert len(prompts_of(script, "conference_view")) == 5

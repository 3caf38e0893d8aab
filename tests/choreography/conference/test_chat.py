"""1:1 chat: memory per session and agent, tools by the same protocol, one run per message."""

from typing import Any

import pytest
from hall_cast import leading, search
from hallway import OpenHall

from callboard.choreography.chat_exchanges import exchanges
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import RunRecord, RunState
from callboard.models import Line, ModelRequest, Script
from callboard.models.traffic.priority import Priority
from callboard.studio.studio import Studio
from callboard.tools import list_receipts

pytestmark = pytest.mark.anyio


async def say(studio: Studio, message: str, agent: str = "writer", **more: Any) -> RunRecord:
    session_id = more.pop("session_id", None)
    run = await studio.start(
        "hall/chat", {"agent": agent, "message": message, **more}, session_id=session_id
    )
    return await studio.engine.wait(run.id)


def roles(request: ModelRequest) -> list[str]:
    return [message.role for message in request.messages]


@pytest.mark.req("CR-06")
async def test_an_agent_remembers_after_a_restart_and_only_its_own_talk(
    open_hall: OpenHall,
) -> None:
    script = Script("Hello, author.", "I plan.", "You said snow.")
    async with open_hall(script) as studio:
        first = await say(studio, "I like snow.", skip_tools=True)
        assert first.state is RunState.DONE, first.error
        assert first.result["text"] == "Hello, author."
        await say(studio, "I like sand.", "planner", skip_tools=True)
    async with open_hall(script) as studio:
        done = await say(studio, "What do I like?", skip_tools=True)
        said = studio.database.read(lambda c: exchanges(c, "hall", done.session_id, "writer"))
    last = script.calls[-1].request
    assert roles(last) == ["system", "user", "assistant", "user"]
    assert last.messages[1].content == "I like snow."
    assert last.messages[2].content == "Hello, author."
    assert "sand" not in last.prompt_text
    assert [(each.message, each.answer) for each in said] == [
        ("I like snow.", "Hello, author."),
        ("What do I like?", "You said snow."),
    ]
    assert last.priority >= Priority.USER
    assert all(each.prompt_id for each in said)


@pytest.mark.parametrize("most", [0, 1, 3, 30, None])
async def test_of_a_long_talk_only_the_latest_of_an_agent_are_read(
    open_hall: OpenHall, most: int | None
) -> None:
    script = Script(Line("Yes.", times=None))
    async with open_hall(script) as studio:
        for number in range(7):
            agent = "planner" if number % 3 == 1 else "writer"
            last = await say(studio, f"{number}?", agent, skip_tools=True)
        session = last.session_id
        both = [
            [each.message for each in studio.database.read(read)]
            for read in (
                lambda c: exchanges(c, "hall", session, "writer", most=most),
                lambda c: exchanges(c, "hall", session, "writer", before=last.id, most=most),
            )
        ]
    whole = ["0?", "2?", "3?", "5?", "6?"]
    assert both == [
        whole[len(whole) - min(most, 5) :] if most is not None else whole,
        whole[:4][4 - min(most, 4) :] if most is not None else whole[:4],
    ]


async def test_another_session_is_another_conversation(open_hall: OpenHall) -> None:
    script = Script("One.", "Two.")
    async with open_hall(script) as studio:
        other = await studio.sessions.create("other")
        await say(studio, "A secret.", skip_tools=True, session_id=other.id)
        mine = await studio.sessions.create("mine")
        await say(studio, "Hello.", skip_tools=True, session_id=mine.id)
    assert "secret" not in script.prompts[-1]


@pytest.mark.req("CR-06", "CR-85")
async def test_an_agent_looks_things_up_before_it_answers(open_hall: OpenHall) -> None:
    script = Script(leading(search("brass key"), "It opens the granary.", asks="chat_"))
    async with open_hall(script) as studio:
        done = await say(studio, "What is the key for?")
        assert done.state is RunState.DONE, done.error
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=done.session_id))
    assert done.result["text"] == "It opens the granary."
    assert done.result["receipt_ids"] == [each.id for each in receipts]
    assert [each.tool for each in receipts] == ["search_text"]
    assert [call.request.prompt_type for call in script.calls] == ["chat_tools", "chat_next"]
    assert "He hung the brass key" in script.prompts[-1]


async def test_an_answer_without_tools_is_one_call(open_hall: OpenHall) -> None:
    script = Script('Like this: {"tool": "search_text", "args": {}, "nonce": "x"}')
    async with open_hall(script) as studio:
        done = await say(studio, "How does a call look?")
        assert studio.database.read(lambda c: list_receipts(c)) == []
    assert done.result["text"].startswith("Like this:")
    assert len(script.calls) == 1


async def test_skipped_tools_are_not_even_mentioned(open_hall: OpenHall) -> None:
    script = Script("Fine.")
    async with open_hall(script) as studio:
        await say(studio, "Hello.", skip_tools=True)
    assert script.calls[0].request.prompt_type == "chat"
    assert "search_text" not in script.prompts[0]
    assert "nonce" not in script.prompts[0]


async def test_the_policy_of_a_chat_is_kept_by_the_server(open_hall: OpenHall) -> None:
    script = Script(leading(search("Kael"), "I may not look.", asks="chat_"))
    async with open_hall(script) as studio:
        done = await say(studio, "Hello.", allowed_tools=["find_files"])
        receipts = studio.database.read(lambda c: list_receipts(c))
        with pytest.raises(InvalidInput, match="nothing_like_it"):
            await say(studio, "Hello.", allowed_tools=["nothing_like_it"])
    assert done.result["receipt_ids"] == []
    assert [each.outcome.value for each in receipts] == ["refused"]
    assert script.calls[-1].request.prompt_type == "chat_refused"


async def test_a_required_tool_is_insisted_on(open_hall: OpenHall) -> None:
    script = Script(Line("No need to look.", times=None))
    async with open_hall(script, chat={"max_tool_steps": 2}) as studio:
        failed = await say(studio, "Hello.", require_tool=True)
    assert failed.error is not None
    assert failed.error.code == "tool_required_not_called"
    assert len(script.calls) == 2


async def test_after_the_last_look_the_agent_must_answer(open_hall: OpenHall) -> None:
    calls = (search("Kael"), search("Mira"))
    script = Script(
        Line("That is all.", prompt_type="chat_findings"), leading(*calls, asks="chat_")
    )
    async with open_hall(script, chat={"max_tool_steps": 2}) as studio:
        done = await say(studio, "Who is there?")
    assert done.result["text"] == "That is all."
    assert len(done.result["receipt_ids"]) == 2


async def test_findings_of_a_chat_have_their_own_limits(open_hall: OpenHall) -> None:
    everything = {"tool": "search_text", "args": {"text": "e", "max_results": 1000}}
    script = Script(leading(everything, "Long.", asks="chat_"))
    async with open_hall(script) as studio:
        await say(studio, "Who is there?")
        settings = studio.settings
    assert settings.chat.max_tool_bytes_per_step == 8_000
    assert settings.chat.max_tool_bytes_per_message == 16_000
    shown = script.prompts[-1].partition('<data origin="tools"')[2]
    assert 4_000 < len(shown.partition("</data>")[0].encode()) < 8_400


async def test_a_small_model_just_answers(open_hall: OpenHall) -> None:
    minimal = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    script = Script("Yes.")
    async with open_hall(script, **minimal) as studio:
        done = await say(studio, "Are you there?")
    assert done.result["text"] == "Yes."
    assert script.calls[0].request.prompt_type == "chat"


async def test_nobody_there_is_said_before_anything_starts(open_hall: OpenHall) -> None:
    async with open_hall(Script()) as studio:
        with pytest.raises(InvalidInput, match="There is no enabled agent 'poet'"):
            await say(studio, "Hello.", "poet")

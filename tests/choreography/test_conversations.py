"""A conversation in an agent's prompt, a priority for what a human waits for, and voided text."""

from typing import Any

import pytest

from callboard.choreography import Priority, agent_turn, user_turn
from callboard.core.events import Event, ReplyChunk, ReplyVoided
from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.prompts import FittingOutcome, list_prompts, load_prompt

pytestmark = pytest.mark.anyio

TALK = (
    "from callboard.choreography import agent_turn, user_turn\n\n"
    "@choreography\n"
    "async def play(stage: Stage, turns: list[str], words: str) -> Any:\n"
    "    history = [\n"
    "        user_turn(text) if n % 2 == 0 else agent_turn('writer', text)\n"
    "        for n, text in enumerate(turns)\n"
    "    ]\n"
    "    said = stage.user(words)\n"
    "    reply = await stage.ask(\n"
    "        'say', 'writer', history=history, words=said, max_tokens=100\n"
    "    )\n"
    "    return reply.text\n"
)
PROMPTS = {"say": "{{words}}"}
FLAGS = {
    "models": {"default": "script", "catalog": {"script": {"window": 1200, "tier": "medium"}}},
    "context": {"reserve_tokens": 200, "keep_last_turns": 2},
}


async def talk(open_studio: Any, pack: Any, script: Script, **args: Any) -> tuple[Any, list[Any]]:
    """Perform the play and return its run with all prompt records, oldest first."""
    flags = args.pop("flags", {})
    async with open_studio(script, pack, **{**FLAGS, **flags}) as studio:
        run = await studio.start("play", args)
        run = await studio.engine.wait(run.id)
        listed = studio.database.read(lambda c: list_prompts(c, run_id=run.id))
        records = [studio.database.read(lambda c, p=p: load_prompt(c, p.id)) for p in listed]
    assert run.state is RunState.DONE, run.error
    return run, sorted(records, key=lambda record: record.id)


def line_of(record: Any, name: str) -> Any:
    return next((line for line in record.bill if line.name == name), None)


async def test_a_conversation_that_fits_goes_out_as_it_is_in_the_roles_of_its_speakers(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script("Brown.")
    turns = ["The dog is called Rex.", "A fine name.", "He is old.", "How old?"]
    run, (record,) = await talk(
        open_studio, write_pack(TALK, PROMPTS), script, turns=turns, words="What colour is he?"
    )
    assert run.result == "Brown."
    (call,) = script.calls
    assert [message.role for message in call.request.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert [message.content for message in call.request.messages][1:] == [
        *turns,
        "What colour is he?",
    ]
    assert line_of(record, "history").outcome is FittingOutcome.KEPT


@pytest.mark.req("LLM-68", "LLM-69")
async def test_what_outgrows_the_window_is_summed_up_by_the_model_and_both_prompts_are_on_record(
    open_studio: Any, write_pack: Any
) -> None:
    turns = [f"Turn {n}: " + "blah " * 60 for n in range(30)]
    script = Script(
        Line("They spoke of the old mill.", prompt_type="conversation_summary"),
        Line("Yes.", prompt_type="say"),
    )
    run, (summary, record) = await talk(
        open_studio, write_pack(TALK, PROMPTS), script, turns=turns, words="Anything else?"
    )
    assert run.result == "Yes."
    assert (summary.mode, record.mode) == ("conversation_summary", "say")
    assert summary.step_key == record.step_key == "say"
    assert summary.reply.text == "They spoke of the old mill."
    history = line_of(record, "history")
    assert history.outcome is FittingOutcome.SUMMARISED
    assert "summarised" in history.reason
    assert line_of(record, "history/left out").original_tokens > 0
    # The window without the reserve; the role contract stands first and whole.
    assert record.total_tokens <= 1200 - 200
    assert record.messages[0].role == "system"
    assert "You own" in record.messages[0].content
    sent = script.calls[-1].request
    assert "They spoke of the old mill." in sent.prompt_text
    assert sent.messages[-1].content == "Anything else?"


async def test_without_a_summary_the_oldest_turns_go_and_the_record_says_why(
    open_studio: Any, write_pack: Any
) -> None:
    turns = [f"Turn {n}: " + "blah " * 60 for n in range(30)]
    failing = Script(
        Line("", prompt_type="conversation_summary", times=None), Line("Yes.", prompt_type="say")
    )
    _, records = await talk(
        open_studio, write_pack(TALK, PROMPTS), failing, turns=turns, words="Anything else?"
    )
    history = line_of(records[-1], "history")
    assert history.outcome is FittingOutcome.REDUCED
    assert "empty" in history.reason
    assert "Turn 29" in records[-1].text
    assert "Turn 0:" not in records[-1].text


async def test_summing_up_can_be_switched_off(open_studio: Any, write_pack: Any) -> None:
    turns = [f"Turn {n}: " + "blah " * 60 for n in range(30)]
    script = Script("Yes.")
    flags = {"context": {"reserve_tokens": 200, "keep_last_turns": 2, "summarise": False}}
    _, (record,) = await talk(
        open_studio,
        write_pack(TALK, PROMPTS),
        script,
        turns=turns,
        words="Anything else?",
        flags=flags,
    )
    assert line_of(record, "history").outcome is FittingOutcome.REDUCED


async def test_a_finished_step_is_not_reused_for_another_conversation(
    open_studio: Any, write_pack: Any, project: Any
) -> None:
    body = (
        "from callboard.choreography import user_turn\n\n"
        "@choreography\n"
        "async def play(stage: Stage) -> Any:\n"
        "    before = (stage.studio.project.root / 'before.txt').read_text()\n"
        "    await stage.ask('say', 'writer', history=[user_turn(before)])\n"
        "    return await stage.ask_human('q', 'Well?')\n"
    )
    pack = write_pack(body, {"say": "Say it."})
    (project / "before.txt").write_text("once")
    async with open_studio(Script("aye"), pack) as studio:
        run = await studio.start("play")
        await studio.engine.wait(run.id, settled=True)
    async with open_studio(Script(), pack) as studio:
        assert (await studio.engine.wait(run.id, settled=True)).state is RunState.WAITING
    (project / "before.txt").write_text("twice")
    async with open_studio(Script(), pack) as studio:
        run = await studio.engine.wait(run.id)
    assert (run.state, run.error.code) == (RunState.FAILED, "non_deterministic")


@pytest.mark.parametrize(("at", "priority"), [("", 60), (".at(Priority.USER)", 100)])
async def test_what_a_human_waits_for_can_be_asked_at_the_user_s_priority(
    open_studio: Any, write_pack: Any, at: str, priority: int
) -> None:
    body = (
        "from callboard.choreography import Priority\n\n"
        "@choreography\n"
        "async def play(stage: Stage) -> Any:\n"
        f"    stage = stage{at}\n"
        "    async def one(branch: Stage) -> Any:\n"
        "        return (await branch.ask('say', 'writer')).text\n"
        "    await stage.choose('pick', 'writer', ['a', 'b'], prompt='say')\n"
        "    await stage.ask('say', 'writer')\n"
        "    await stage.parallel({'x': one})\n"
    )
    script = Script(Line(json={"choice": "a"}), "aye", "aye")
    async with open_studio(script, write_pack(body, {"say": "Say it."})) as studio:
        run = await studio.start("play")
        run = await studio.engine.wait(run.id)
    assert run.state is RunState.DONE
    assert [call.request.priority for call in script.calls] == [priority] * 3
    assert Priority.USER == 100


@pytest.mark.req("LLM-33")
async def test_text_that_a_retry_voids_is_taken_back_from_whoever_watches(
    open_studio: Any, write_pack: Any
) -> None:
    body = (
        "@choreography\n"
        "async def play(stage: Stage) -> Any:\n"
        "    return (await stage.ask('say', 'writer')).text\n"
    )
    script = Script(Line("The sea is wild and", drop_after=10), "The sea is calm.")
    retry = {"retry": {"transient": {"max_attempts": 2, "initial_delay_seconds": 0}}}
    seen: list[Event] = []
    async with open_studio(script, write_pack(body, {"say": "Say."}), errors=retry) as studio:
        studio.backstage.live_listeners.append(seen.append)
        run = await studio.start("play")
        run = await studio.engine.wait(run.id)
    assert run.result == "The sea is calm."
    shown, voided = "", 0
    for event in seen:
        if isinstance(event.body, ReplyChunk):
            shown += event.body.text
        elif isinstance(event.body, ReplyVoided):
            assert (event.step_key, shown) == ("say", "The sea is")
            shown, voided = "", voided + 1
    assert (shown, voided) == ("The sea is calm.", 1)


def test_turns_say_whose_words_they_are() -> None:
    mine, theirs = user_turn("Hello."), agent_turn("writer", "Good day.")
    assert (mine.role, mine.content.origin, mine.content.trust.value) == ("user", "user", "trusted")
    assert (theirs.role, theirs.content.origin) == ("assistant", "agent:writer")

"""The scripted model: what it says, what it remembers, how it fails."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import ErrorTier, InvalidInput, NotFound, ProviderError
from callboard.models import (
    DirectGate,
    LadderGate,
    Message,
    ModelRequest,
    ProviderTimeout,
    ScriptExhausted,
    ScriptFiles,
    Usage,
)
from callboard.testing import Failure, Line, Script, load_script

pytestmark = pytest.mark.anyio


def ask(
    text: str = "hello", agent: str | None = None, prompt_type: str | None = None, **more: Any
) -> ModelRequest:
    metadata = {} if prompt_type is None else {"prompt_type": prompt_type}
    messages = (Message("system", "be kind"), Message("user", text))
    return ModelRequest(
        more.pop("model", "script"), messages, agent_id=agent, metadata=metadata, **more
    )


async def say(script: Script, request: ModelRequest) -> str:
    return (await DirectGate({"script": script}).complete(request)).text


async def test_strings_are_said_in_order() -> None:
    script = Script("one", "two")
    assert [await say(script, ask()), await say(script, ask())] == ["one", "two"]
    script.verify()


@pytest.mark.req("CR-09")
async def test_lines_are_chosen_by_agent_prompt_type_and_words() -> None:
    script = Script(
        Line("for the editor", agent="editor"),
        Line("a draft", prompt_type="draft"),
        Line("a ship", matching=r"sh[io]p\b"),
        Line("else", times=None),
    )
    assert await say(script, ask("a ship, a ship!")) == "a ship"
    assert await say(script, ask(prompt_type="draft", agent="writer")) == "a draft"
    assert await say(script, ask(agent="editor")) == "for the editor"
    assert await say(script, ask(agent="editor")) == "else"
    script.verify()


async def test_a_line_can_answer_several_times_or_always() -> None:
    script = Script(Line("twice", times=2), Line("always", times=None))
    said = [await say(script, ask()) for _ in range(5)]
    assert said == ["twice", "twice", "always", "always", "always"]


async def test_a_function_answers_or_passes() -> None:
    def echo(request: ModelRequest) -> str | None:
        return f"echo: {request.messages[-1].content}" if request.agent_id == "parrot" else None

    script = Script(echo, Line("not a parrot", times=None))
    assert await say(script, ask("hi", agent="parrot")) == "echo: hi"
    assert await say(script, ask("hi")) == "not a parrot"


@pytest.mark.req("CR-09")
async def test_every_request_is_recorded_with_its_prompt() -> None:
    script = Script("a", "b")
    await say(script, ask("first question", agent="x", run_id="run_1"))
    await say(script, ask("second question"))
    assert script.prompts == ["be kind\nfirst question", "be kind\nsecond question"]
    assert script.calls[0].request.run_id == "run_1"
    assert script.calls[0].line == Line("a")


async def test_one_call_too_many_names_agent_and_prompt_type() -> None:
    script = Script("only one")
    await say(script, ask())
    with pytest.raises(ScriptExhausted) as caught:
        await say(script, ask(agent="editor", prompt_type="review"))
    record = caught.value.record()
    assert record.code == "script_exhausted"
    assert "'editor'" in record.message
    assert "'review'" in record.message
    assert record.context["prompt_type"] == "review"
    assert [request.agent_id for request in script.unexpected] == ["editor"]
    with pytest.raises(AssertionError, match="unexpected call: agent 'editor'"):
        script.verify()


async def test_lines_never_used_are_reported() -> None:
    used, half, never, rule = (
        Line("a"),
        Line("b", times=2),
        Line("c", agent="x"),
        Line("d", times=None),
    )
    script = Script(used, half, never, rule)
    await say(script, ask())
    await say(script, ask())
    assert script.unused() == [half, never, rule]
    with pytest.raises(AssertionError, match="never asked for: 'c' for agent 'x'"):
        script.verify()


async def test_lines_can_be_added_later() -> None:
    script = Script()
    script.add("late", Line("later"))
    assert [await say(script, ask()), await say(script, ask())] == ["late", "later"]


async def test_json_is_said_as_text() -> None:
    script = Script(Line(json={"ok": True}), Line(json=[1, 2]))
    assert json.loads(await say(script, ask())) == {"ok": True}
    assert json.loads(await say(script, ask())) == [1, 2]


async def test_usage_is_counted_in_words_or_given() -> None:
    gate = DirectGate({"script": Script("three little words", Line("x", usage=Usage(100, 50)))})
    assert (await gate.complete(ask())).usage == Usage(3, 3)
    assert (await gate.complete(ask())).usage == Usage(100, 50)


async def test_a_held_line_waits_for_its_moment() -> None:
    script = Script(Line("released", hold="curtain"), "at once")
    held = asyncio.create_task(say(script, ask()))
    await script.reached("curtain")
    assert await say(script, ask()) == "at once"
    assert not held.done()
    script.release("curtain")
    assert await held == "released"


async def test_a_thousand_calls_can_wait_at_once() -> None:
    script = Script(Line("go", hold="gun", times=None))
    gate = DirectGate({"script": script})
    waiting = [asyncio.create_task(gate.complete(ask())) for _ in range(1000)]
    await script.reached("gun")
    script.release("gun")
    assert {reply.text for reply in await asyncio.gather(*waiting)} == {"go"}


async def test_scripted_failures_behave_like_real_ones() -> None:
    script = Script(
        Line(fail=Failure(429, "slow down", {"Retry-After": "2"})),
        Line("cut in two", drop_after=4),
        Line(hang=True),
    )
    gate = DirectGate({"script": script})
    with pytest.raises(ProviderError) as limited:
        await gate.complete(ask())
    with pytest.raises(ProviderError) as dropped:
        await gate.complete(ask())
    with pytest.raises(ProviderTimeout):
        await gate.complete(ask(inactivity_seconds=0.02))
    assert limited.value.tier is ErrorTier.EXTERNAL_RATE_LIMIT
    assert limited.value.headers == {"retry-after": "2"}
    assert (dropped.value.tier, dropped.value.partial) == (ErrorTier.TRANSIENT, "cut ")
    script.verify()


REPLIES = """
replies:
  - agent: editor
    prompt_type: review
    json: {verdict: pass}
  - matching: chapter \\d+
    text: A chapter.
    times: always
  - fail: {status: 503, message: down, headers: {Retry-After: "5"}}
  - text: cut here
    drop_after: 3
    usage: {input_tokens: 4, output_tokens: 2}
"""


@pytest.mark.req("CR-09")
async def test_a_script_file_answers_for_its_model_id(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "replies.yaml").write_text(REPLIES)
    files = ScriptFiles(tmp_path)
    gate = DirectGate({"script": files})
    model = "script:tests/replies.yaml"
    schema = {"type": "object", "required": ["verdict"]}
    review = ask(agent="editor", prompt_type="review", model=model, json_schema=schema)
    assert (await LadderGate(gate).complete(review)).data == {"verdict": "pass"}
    assert (await gate.complete(ask("chapter 7", model=model))).text == "A chapter."
    with pytest.raises(ProviderError) as down:
        await gate.complete(ask(model=model))
    assert down.value.status == 503
    with pytest.raises(ProviderError) as dropped:
        await gate.complete(ask(model=model))
    assert dropped.value.partial == "cut"
    assert len(files.script(model).calls) == 4
    files.script(model).verify()


async def test_a_json_file_and_an_absolute_path_work_too(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"replies": [{"text": "from JSON"}]}))
    gate = DirectGate({"script": ScriptFiles(tmp_path / "elsewhere")})
    assert (await gate.complete(ask(model=f"script:{path}"))).text == "from JSON"


async def test_the_bare_id_plays_the_script_it_was_given(tmp_path: Path) -> None:
    gate = DirectGate({"script": ScriptFiles(tmp_path, Script("given"))})
    assert (await gate.complete(ask())).text == "given"
    with pytest.raises(NotFound, match="has no replies"):
        await DirectGate({"script": ScriptFiles(tmp_path)}).complete(ask())


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("replies: [{txet: oops}]", "replies.0.txet"),
        ("replies: [{times: sometimes}]", "replies.0.times"),
        ("nothing: here", "replies"),
        ("[1, 2]", "the file"),
        ("", "the file"),
        ("replies: [", "is not valid YAML"),
        ("replies: [{fail: {code: 3}}]", "replies.0.fail.code"),
    ],
)
def test_a_bad_file_is_reported_with_file_and_place(
    tmp_path: Path, content: str, named: str
) -> None:
    path = tmp_path / "replies.yaml"
    path.write_text(content)
    with pytest.raises(InvalidInput) as caught:
        load_script(path)
    assert str(path) in caught.value.message
    assert named in caught.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"gone\.yaml"):
        load_script(tmp_path / "gone.yaml")

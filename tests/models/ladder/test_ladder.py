"""The ladder through its public door: bad replies on each rung, from the scripted model."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callboard.core.canonical import Json
from callboard.core.errors import ErrorTier, InvalidInput, ProviderError
from callboard.core.events import EventBody, RungChanged
from callboard.models import (
    Chunk,
    DirectGate,
    Failure,
    Finished,
    InvalidReply,
    LadderGate,
    Line,
    Message,
    ModelProfile,
    ModelRequest,
    ProviderTimeout,
    Restarted,
    Rung,
    SchemaRefused,
    SchemaShape,
    Score,
    Script,
    TextChunk,
    Usage,
    Working,
)

pytestmark = pytest.mark.anyio

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
}
HEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "animal": {"type": "string", "description": "its usual name"},
        "legs": {"type": "integer", "minimum": 0, "maximum": 8},
        "can_fly": {"type": "boolean"},
    },
    "required": ["animal", "legs", "can_fly"],
    "additionalProperties": False,
}


class Constrained(Script):
    """A provider that claims to enforce schemas."""

    constrains_json = True


class Shelf:
    """Profiles in memory."""

    def __init__(self, *profiles: ModelProfile) -> None:
        self.profiles = {profile.model: profile for profile in profiles}

    def find(self, model: str) -> ModelProfile | None:
        return self.profiles.get(model)


def starting_at(rung: Rung, *, has_grammar: bool = False) -> Shelf:
    scores = {rung: dict.fromkeys(SchemaShape, Score(4, 4))}
    return Shelf(ModelProfile("script", 0, has_grammar, scores))


def ask(schema: Json = SCHEMA, **more: Any) -> ModelRequest:
    return ModelRequest("script", (Message("user", "Go."),), json_schema=schema, **more)


def over(script: Script, **more: Any) -> LadderGate:
    return LadderGate(DirectGate({"script": script}), more.pop("profiles", None), **more)


def shown(chunks: list[Chunk]) -> str:
    """Return the text that is not void."""
    text = ""
    for chunk in chunks:
        if isinstance(chunk, Restarted):
            text = ""
        elif isinstance(chunk, TextChunk):
            text += chunk.text
    return text


async def test_a_request_without_a_schema_passes_untouched() -> None:
    script = Script("Just words.")
    reply = await over(script).complete(ModelRequest("script", (Message("user", "Hi"),)))
    assert (reply.text, reply.data, reply.rungs) == ("Just words.", None, ())
    assert script.calls[0].request.messages == (Message("user", "Hi"),)


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 3}',
        '  {"n": 3}\n',
        '```json\n{"n": 3}\n```',
        'Here you are: {"n": 3}. Anything else?',
        'I thought of {"n": "x"} first.\n<json>{"n": 3}</json>',
        '<json>{"n": "x"}</json> no, <JSON>\n{"n": 3}\n</JSON>',
    ],
)
async def test_json_is_found_where_models_put_it(text: str) -> None:
    reply = await over(Script(text)).complete(ask())
    assert reply.data == {"n": 3}
    assert reply.text == text
    assert reply.rungs == (Rung.SCHEMA,)
    assert not reply.was_repaired


async def test_a_tag_inside_the_answer_does_not_end_it() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]}
    text = '<json>{"s": "use <json>{}</json> here"}</json>'
    reply = await over(Script(text)).complete(ask(schema))
    assert reply.data == {"s": "use <json>{}</json> here"}


@pytest.mark.parametrize(
    "broken", ['{"n": "three"}', "{}", "[1]", "no JSON at all", '{"n": 3', "", '{"n": NaN}']
)
async def test_a_broken_reply_is_asked_for_in_words(broken: str) -> None:
    script = Script(Line(broken, usage=Usage(5, 5)), Line('{"n": 3}', usage=Usage(9, 2)))
    chunks = [chunk async for chunk in over(script).stream(ask())]
    last = chunks[-1]
    assert isinstance(last, Finished)
    assert (last.reply.data, last.reply.was_repaired) == ({"n": 3}, True)
    assert last.reply.rungs == (Rung.SCHEMA, Rung.TAGGED)
    assert last.reply.usage == Usage(14, 7)
    assert shown(chunks) == last.reply.text == '{"n": 3}'
    first, second = (call.request for call in script.calls)
    assert first.json_schema == SCHEMA
    assert second.json_schema is None
    (said,) = second.messages
    assert said.content.startswith("Go.\n\n")
    assert "<json>" in said.content
    assert '"required"' in said.content


async def test_every_rung_is_tried_in_its_order() -> None:
    script = Script("bad one", "bad two", "bad three", "It is 7.")
    heard: list[tuple[EventBody, ModelRequest | None]] = []
    gate = over(script, notify=lambda body, request: heard.append((body, request)))
    request = ask(session_id="sess_1", metadata={"prompt_type": "draft"})
    chunks = [chunk async for chunk in gate.stream(request)]
    last = chunks[-1]
    assert isinstance(last, Finished)
    assert last.reply.rungs == (Rung.SCHEMA, Rung.TAGGED, Rung.REPAIR, Rung.SMALLER)
    assert (last.reply.data, last.reply.text) == ({"n": 7}, '{"n":7}')
    assert shown(chunks) == '{"n":7}'
    assert sum(isinstance(chunk, Restarted) for chunk in chunks) == 3
    assert [
        (body.rung_from, body.rung_to) for body, _ in heard if isinstance(body, RungChanged)
    ] == [
        ("schema", "tagged"),
        ("tagged", "repair"),
        ("repair", "smaller"),
    ]
    assert [body.rejected for body, _ in heard if isinstance(body, RungChanged)] == [
        "bad one",
        "bad two",
        "bad three",
    ]
    assert all(about is request for _, about in heard)
    sent = [call.request for call in script.calls]
    assert [each.rungs[0] for each in sent] == [*last.reply.rungs]
    assert {each.session_id for each in sent} == {"sess_1"}
    assert {each.prompt_type for each in sent} == {"draft"}
    repair = sent[2].messages
    assert repair[-2] == Message("assistant", "bad two")
    assert "no JSON" in repair[-1].content
    script.verify()


async def test_rubbish_on_every_rung_is_an_error_with_the_text_kept() -> None:
    script = Script(*["\x00\x01 rubbish"] * 3, Line("more rubbish", times=2))
    with pytest.raises(InvalidReply) as caught:
        await over(script).complete(ask())
    record = caught.value.record()
    assert (record.code, record.tier) == ("invalid_reply", ErrorTier.PERMANENT)
    assert not record.retryable
    assert record.context["rungs"] == ["schema", "tagged", "repair", "smaller"]
    assert record.context["usage"]["output_tokens"] == 10
    assert "`n`" in record.message
    script.verify()


async def test_a_reply_cut_off_by_its_limit_is_not_asked_for_again_as_a_whole() -> None:
    script = Script(Line('{"n": ', finish_reason="length"), "5")
    reply = await over(script).complete(ask())
    assert (reply.data, reply.rungs) == ({"n": 5}, (Rung.SCHEMA, Rung.SMALLER))
    script = Script(Line('{"n": ', finish_reason="length"))
    with pytest.raises(InvalidReply) as caught:
        await over(script).complete(ask(rungs=(Rung.SCHEMA, Rung.TAGGED, Rung.REPAIR)))
    assert "cut off" in caught.value.message
    assert "max_tokens" in (caught.value.fix or "")
    assert caught.value.partial == '{"n": '
    script.verify()


async def test_a_schema_that_is_none_is_refused_before_anything_is_spent() -> None:
    script = Script()
    with pytest.raises(InvalidInput, match="banana"):
        await over(script).complete(ask({"type": "banana"}))
    assert script.calls == []


async def test_a_grammar_is_noticed_and_text_without_it_never_asked() -> None:
    script = Constrained('{"n": "three"}', '{"n": "four"}', '{"answer": 5}')
    reply = await over(script).complete(ask())
    assert reply.rungs == (Rung.GRAMMAR, Rung.REPAIR, Rung.SMALLER)
    assert reply.data == {"n": 5}
    assert all(call.request.json_schema is not None for call in script.calls)


class Refusing(Script):
    """A provider that takes no schema, however small."""

    async def stream(self, request: ModelRequest) -> Any:
        if request.json_schema is not None:
            raise SchemaRefused("no schemas here")
        async with aclosing(super().stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk


async def test_a_provider_that_refuses_the_schema_is_asked_in_words() -> None:
    reply = await over(Refusing('<json>{"n": 1}</json>')).complete(ask())
    assert (reply.data, reply.rungs) == ({"n": 1}, (Rung.SCHEMA, Rung.TAGGED))


async def test_a_small_question_the_grammar_refuses_is_asked_in_words() -> None:
    profiles = starting_at(Rung.SMALLER, has_grammar=True)
    reply = await over(Refusing("hen", "2", "yes"), profiles=profiles).complete(ask(HEN))
    assert reply.data == {"animal": "hen", "legs": 2, "can_fly": True}


@pytest.mark.parametrize(
    ("rung", "text", "asked_with_schema"),
    [
        (Rung.GRAMMAR, '{"n": 4}', True),
        (Rung.SCHEMA, '{"n": 4}', True),
        (Rung.TAGGED, '<json>{"n": 4}</json>', False),
        (Rung.SMALLER, "4", False),
    ],
)
async def test_the_profile_says_where_to_start(
    rung: Rung, text: str, asked_with_schema: bool
) -> None:
    script = Constrained(text) if rung is Rung.GRAMMAR else Script(text)
    reply = await over(script, profiles=starting_at(rung)).complete(ask())
    assert (reply.data, reply.rungs) == ({"n": 4}, (rung,))
    assert (script.calls[0].request.json_schema is not None) is asked_with_schema
    assert len(script.calls) == 1


async def test_the_request_may_name_its_rungs() -> None:
    script = Script("bad", "<json>bad</json>")
    with pytest.raises(InvalidReply) as caught:
        await over(script).complete(ask(rungs=(Rung.TAGGED, Rung.REPAIR)))
    assert caught.value.context["rungs"] == ["tagged", "repair"]
    with pytest.raises(InvalidInput, match="repair"):
        await over(Script()).complete(ask(rungs=(Rung.REPAIR,)))


async def test_an_object_is_asked_for_field_by_field() -> None:
    script = Script("“a hen”", "Two? It has 2 legs.", "no")
    chunks = [
        chunk async for chunk in over(script, profiles=starting_at(Rung.SMALLER)).stream(ask(HEN))
    ]
    last = chunks[-1]
    assert isinstance(last, Finished)
    assert last.reply.data == {"animal": "a hen", "legs": 2, "can_fly": False}
    notes = [chunk.note for chunk in chunks if isinstance(chunk, Working)]
    assert [note for note in notes if note] == [
        "asking for `animal`",
        "asking for `legs`",
        "asking for `can_fly`",
    ]
    assert shown(chunks) == last.reply.text, "what is said in between is not the reply"
    animal, legs, fly = script.prompts
    assert "its usual name" in animal
    assert "At most 8." in legs
    assert "- `animal`: a hen" in legs
    assert "1. yes\n2. no" in fly


async def test_a_small_question_gets_a_second_try_with_the_problem() -> None:
    script = Script("hen", "plenty", "2", "yes")
    reply = await over(script, profiles=starting_at(Rung.SMALLER)).complete(ask(HEN))
    assert reply.data == {"animal": "hen", "legs": 2, "can_fly": True}
    assert "write one number" in script.prompts[2]


async def test_small_questions_have_an_end() -> None:
    script = Script(Line("1", times=None))
    gate = over(script, profiles=starting_at(Rung.SMALLER), max_questions=2)
    with pytest.raises(InvalidReply, match="more than 2 small questions"):
        await gate.complete(ask(HEN))
    assert len(script.calls) == 2


async def test_a_failure_between_two_questions_keeps_the_answers() -> None:
    script = Script("hen", Line(fail=Failure(500, "down")))
    gate = over(script, profiles=starting_at(Rung.SMALLER))
    with pytest.raises(ProviderError) as caught:
        await gate.complete(ask(HEN))
    assert caught.value.status == 500
    assert caught.value.context["answers"] == {"animal": "hen"}


async def test_a_failing_provider_is_not_mistaken_for_a_bad_reply() -> None:
    script = Script(Line(fail=Failure(503, "down")))
    with pytest.raises(ProviderError) as caught:
        await over(script).complete(ask())
    assert caught.value.status == 503
    assert len(script.calls) == 1


class Hours:
    """A clock on which every look costs a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def now_ms(self) -> int:
        return int(self.now * 1000)

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


async def test_the_callers_time_limit_holds_for_the_whole_climb() -> None:
    script = Script(Line("bad", times=None))
    gate = LadderGate(DirectGate({"script": script}, clock=Hours()))
    with pytest.raises(ProviderTimeout) as caught:
        await gate.complete(ask(timeout_seconds=5.0))
    limits = [call.request.timeout_seconds for call in script.calls]
    assert limits == [5.0, 2.0]
    assert caught.value.context["rungs"] == ["schema", "tagged", "repair"]
    assert caught.value.partial == "bad"


async def test_times_are_those_of_the_whole_climb() -> None:
    gate = LadderGate(DirectGate({"script": Script("bad", '{"n": 1}')}, clock=Hours()))
    reply = await gate.complete(ask())
    assert (reply.first_token_ms, reply.duration_ms) == (4000, 6000)


async def test_leaving_in_the_middle_closes_the_call_beneath() -> None:
    script = Script(Line("bad"), Line("late", hold="here"))
    async with aclosing(over(script).stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, Restarted):
                break
    task = asyncio.create_task(over(Script(Line("x", hold="there"))).complete(ask()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(script.calls) == 1


async def test_a_stream_without_an_end_is_an_error_not_a_stale_reply() -> None:
    class Vanishing(LadderGate):
        async def stream(self, request: ModelRequest) -> Any:
            yield TextChunk("x")

    with pytest.raises(ProviderError, match="without a reply"):
        await LadderGate(Vanishing(DirectGate({}))).complete(ask())

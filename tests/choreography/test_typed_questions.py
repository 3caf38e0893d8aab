"""Typed questions: schema, check and memory are one type, and silence is never an error."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from callboard.choreography.answers import (
    Answer,
    Proven,
    Quote,
    at_most,
    choices,
    narrowed,
    one_of,
    read_answer,
    schema_of,
)
from callboard.choreography.questions import KIND
from callboard.core.errors import InvalidInput
from callboard.core.schemas import violations
from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line, Script
from callboard.models.accounts import Limits, Scope
from callboard.store.records import Records

pytestmark = pytest.mark.anyio

TEXT = "The lantern went out. Nobody moved, and the tide came in over the stones."
PLAY = """
from typing import Literal

from callboard.choreography.answers import Answer, Quote
from callboard.choreography.questions import Answers, Judge, Question


class Mood(Answer):
    word: Literal["dark", "bright"]
    quote: Quote


async def pick_mood(judge, key, told):
    word = await judge.pick(f"{key}/word", "pick", ["dark", "bright"], scene=told["scene"])
    return None if word is None else Mood(word=word, quote="")


MOOD = Question("mood", Mood, about=("scene",), hints=("known",), small=pick_mood)
PLAIN = Question("plain", Mood, about=("scene",))


@choreography
async def play(stage: Stage, texts: list[str], known: str = "-", is_small: bool = False) -> Any:
    judge = Judge(stage, "writer", Answers(stage.studio, "mine"), "script", is_small=is_small)
    found = []
    for number, text in enumerate(texts):
        said = await judge.once(f"mood/{number}", MOOD, scene=text, known=known)
        found.append(None if said is None else said.model_dump())
    plain = await judge.once("plain", PLAIN, scene=texts[0])
    return {"moods": found, "plain": plain is not None, "why": judge.why}
"""
PROMPTS = {
    "mood": "{{known}}\n\n{{scene}}\n\nWhich mood?",
    "plain": "{{scene}}\n\nWhich mood, plainly?",
    "pick": "{{scene}}\n\n{{options}}",
}
DARK = {"word": "dark", "quote": "The lantern went out."}
PLAINLY = Line(json=DARK, prompt_type="plain", times=None)


async def perform(studio: Any, texts: list[str], **args: Any) -> Any:
    run = await studio.start("play", {"texts": texts, **args})
    return await studio.engine.wait(run.id)


def moods(script: Script) -> int:
    return sum(call.request.prompt_type == "mood" for call in script.calls)


def kept(studio: Any) -> dict[str, Any]:
    return Records(studio.database, "mine", studio.clock).all(KIND)


async def test_the_same_question_about_the_same_words_is_paid_once(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(PLAY, PROMPTS)
    script = Script(PLAINLY, Line(json=DARK, prompt_type="mood", times=None))
    async with open_studio(script, pack) as studio:
        first = await perform(studio, [TEXT])
        again = await perform(studio, [TEXT])
        assert first.result == again.result
        assert first.result["moods"] == [DARK]
        assert moods(script) == 1
        assert {each["prompt"] for each in kept(studio).values()} == {"mood", "plain"}
        # A hint helps; it makes no other question.
        await perform(studio, [TEXT], known="Mara")
        assert moods(script) == 1
        await perform(studio, [f"{TEXT} Then it rained."])
        assert moods(script) == 2


async def test_another_prompt_is_another_question(open_studio: Any, write_pack: Any) -> None:
    pack: Path = write_pack(PLAY, PROMPTS)
    script = Script(PLAINLY, Line(json=DARK, prompt_type="mood", times=None))
    async with open_studio(script, pack) as studio:
        await perform(studio, [TEXT])
        (pack / "prompts" / "mood.md").write_text("{{known}}{{scene}}\n\nWhich mood, really?")
        await perform(studio, [TEXT])
    assert moods(script) == 2


async def test_words_that_do_not_stand_in_the_text_are_no_quote(
    open_studio: Any, write_pack: Any
) -> None:
    said = {"word": "dark", "quote": "a dragon landed on the roof"}
    script = Script(PLAINLY, Line(json=said, prompt_type="mood"))
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        run = await perform(studio, [TEXT])
    assert run.result["moods"] == [{"word": "dark", "quote": ""}]


async def test_a_model_that_cannot_be_reached_is_asked_no_more_and_nothing_fails(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script(Line(fail=Failure(400, "gone"), times=None))
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        run = await perform(studio, ["one text", "another text", "a third text"])
        assert kept(studio) == {}
    assert run.state is RunState.DONE
    assert run.result["moods"] == [None, None, None]
    assert not run.result["plain"]
    assert "gone" in run.result["why"]
    assert len(script.calls) == 1


async def test_a_reply_that_cannot_be_used_says_nothing_about_the_next(
    open_studio: Any, write_pack: Any
) -> None:
    def answer(request: Any) -> Line:
        if request.prompt_type == "mood" and "the first" in request.prompt_text:
            return Line("I would rather not.", times=None)
        return Line(json=DARK)

    script = Script(answer)
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        run = await perform(studio, ["the first", TEXT])
    assert run.state is RunState.DONE
    assert run.result["moods"] == [None, DARK]
    assert run.result["plain"]


async def test_a_resumed_run_goes_by_what_it_knew(open_studio: Any, write_pack: Any) -> None:
    pack = write_pack(PLAY, PROMPTS)
    first = Script(
        Line(json=DARK, prompt_type="mood"), Line(json=DARK, prompt_type="plain", hold="plain")
    )
    async with open_studio(first, pack) as studio:
        run = await studio.start("play", {"texts": [TEXT]})
        await first.reached("plain")
    second = Script(PLAINLY)
    async with open_studio(second, pack) as studio:
        records = Records(studio.database, "mine", studio.clock)
        for name, body in kept(studio).items():
            await records.put(KIND, name, {**body, "answer": {"word": "bright", "quote": ""}})
        done = await studio.engine.wait(run.id)
    assert done.state is RunState.DONE, done.error
    assert done.result["moods"] == [DARK]
    assert moods(second) == 0


async def test_a_small_model_picks_and_is_not_asked_what_it_cannot_answer(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script(Line(json={"choice": "bright"}, prompt_type="pick", times=None))
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        for _ in range(2):
            run = await perform(studio, [TEXT], is_small=True)
            assert run.result["moods"] == [{"word": "bright", "quote": ""}]
            assert not run.result["plain"]
    assert [call.request.prompt_type for call in script.calls] == ["pick"]


async def test_a_small_model_that_says_nothing_has_not_judged(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script(Line(fail=Failure(400, "gone"), times=None))
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        run = await perform(studio, [TEXT], is_small=True)
        assert kept(studio) == {}
    assert run.state is RunState.DONE
    assert run.result["moods"] == [None]


async def test_a_budget_still_asks_the_human(open_studio: Any, write_pack: Any) -> None:
    script = Script(PLAINLY, Line(json=DARK, prompt_type="mood", times=None))
    async with open_studio(script, write_pack(PLAY, PROMPTS)) as studio:
        session = await studio.sessions.current()
        await studio.accounts.set_limits(Scope.parse(f"session:{session.id}"), Limits(tokens=1))
        run = await studio.start("play", {"texts": [TEXT]})
        waiting = await studio.engine.wait(run.id, settled=True)
        assert waiting.state is RunState.WAITING
    assert script.calls == []


class Row(Answer):
    """A row with words to prove it."""

    name: Literal["a", "b"]
    quote: Quote


class Rows(Answer):
    """Several of them."""

    rows: Annotated[tuple[Row, ...], at_most(3), Proven]
    note: str | None = Field(default=None, description="What else there is.")


class Endless(Answer):
    """Holds itself."""

    inner: "Endless | None" = None


def test_a_schema_is_plain() -> None:
    row = {
        "type": "object",
        "properties": {"name": {"type": "string", "enum": ["a", "b"]}, "quote": {"type": "string"}},
        "required": ["name", "quote"],
        "additionalProperties": False,
    }
    assert schema_of(Rows) == {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": row},
            "note": {"type": ["string", "null"], "description": "What else there is."},
        },
        "required": ["rows"],
        "additionalProperties": False,
    }
    assert schema_of(Rows, without=("note",), loosely=("rows",))["properties"] == {
        "rows": {"type": "array", "items": {"type": "object"}}
    }
    with pytest.raises(InvalidInput, match="Endless"):
        schema_of(Endless)


def test_a_schema_that_was_handed_out_is_the_callers_to_change() -> None:
    untouched = schema_of(Rows)
    mine: Any = schema_of(Rows)
    mine["required"].append("more")
    mine["properties"].clear()
    assert schema_of(Rows) == untouched


def test_only_what_is_proven_stays() -> None:
    rows = [
        {"name": "a", "quote": "“The lantern went out.”"},
        {"name": "b", "quote": "The lantern exploded."},
        {"name": "b", "quote": "over the stones"},
        {"name": "a", "quote": "Nobody moved"},
    ]
    found = read_answer(Rows, {"rows": rows}, TEXT)
    assert found is not None
    assert [each.quote for each in found.rows] == ["The lantern went out.", "over the stones"]
    # What was kept is not held against a text again.
    assert read_answer(Rows, found.model_dump(mode="json")) == found


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.data())
def test_what_the_schema_allows_the_type_takes_and_the_reverse(
    options: list[str], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(options))
    for answer, said in (
        (one_of(options), {"choice": chosen}),
        (choices(first=options, second=options), {"first": chosen, "second": options[0]}),
        (narrowed(Answer, words=tuple[str, ...]), {"words": options}),
    ):
        assert list(violations(said, schema_of(answer))) == []
        assert read_answer(answer, said) is not None
        wrong = {**said, "more": 1}
        assert list(violations(wrong, schema_of(answer)))
        assert read_answer(answer, wrong) is None
    absent = data.draw(st.text().filter(lambda each: each not in options))
    assert read_answer(one_of(options), {"choice": absent}) is None


def test_no_pack_writes_a_schema_by_hand() -> None:
    packs = Path(__file__).parents[2] / "src" / "callboard" / "packs"
    files = [*packs.rglob("*.py"), *(packs.parent / "library").rglob("*.py")]
    assert len(files) > 100, "the guard looked at nothing"
    marks = ('"additionalProperties"', "'additionalProperties'")
    by_hand = [
        each.relative_to(packs.parent).as_posix()
        for each in files
        if any(mark in each.read_text(encoding="utf-8") for mark in marks)
    ]
    # It closes schemas that Pydantic makes, but for keys of somebody's own.
    assert by_hand == ["packs/questfoundry/artifacts/shape.py"]


def test_names_taken_from_an_enumeration_are_plain_text_in_the_schema() -> None:
    class Part(StrEnum):
        VOICE = "voice"

    schema = schema_of(choices(**dict.fromkeys(Part, ("good", "bad")), line=("1", "2")))
    properties: Any = schema["properties"]
    assert [*properties] == ["voice", "line"]
    # The library of the embedded model takes no other kind of key.
    assert {type(name) for name in properties} == {str}

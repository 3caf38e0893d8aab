"""Measuring a model, keeping what was found, and asking accordingly."""

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callboard.models import (
    DirectGate,
    InvalidReply,
    LadderGate,
    Line,
    LlamaSettings,
    LocalProvider,
    Message,
    ModelProfile,
    ModelRequest,
    ProfileShelf,
    Rung,
    SchemaShape,
    Score,
    Script,
    Usage,
    find_weights,
    measure,
    profiles_dir,
    weights_dir,
)
from callboard.models.ladder.profiles import trials

pytestmark = pytest.mark.anyio


class Noon:
    def now_ms(self) -> int:
        return 1_700_000_000_000

    def monotonic(self) -> float:
        return 0.0


GOOD = {
    "trial_choice": {"feeling": "neutral", "umbrella": True},
    "trial_flat": {"animal": "hen", "legs": 2, "can_fly": True},
    "trial_list": {"place": "harbour", "things": ["ship", "rope"]},
    "trial_nested": {
        "title": "Farewell",
        "setting": {"place": "pier", "time": "night"},
        "characters": [{"name": "Kael", "mood": "calm"}],
    },
}


def perfect(request: ModelRequest) -> str:
    data = GOOD.get(request.prompt_type or "")
    return "The sea." if data is None else json.dumps(data)


async def test_a_model_that_never_fails_is_measured_on_one_rung() -> None:
    script = Script(perfect)
    gate = DirectGate({"script": script})
    profile = await measure(gate, "script", Noon(), tries=2)
    assert profile.scores == {Rung.SCHEMA: dict.fromkeys(SchemaShape, Score(2, 2))}
    assert (profile.sample, profile.measured_at) == ("The sea.", Noon().now_ms())
    assert not profile.has_grammar
    assert len(script.calls) == 1 + 4 * 2
    assert profile.usage.output_tokens > 0
    assert {call.request.seed for call in script.calls[:-1]} == {1, 2}
    assert len({call.prompt for call in script.calls}) == 1 + 4 * 2, "no question twice"


async def test_a_grammar_is_measured_under_its_own_name() -> None:
    class Constrained(Script):
        constrains_json = True

    profile = await measure(DirectGate({"script": Constrained(perfect)}), "script", Noon(), tries=1)
    assert set(profile.scores) == {Rung.GRAMMAR}
    assert profile.has_grammar
    assert all(profile.first_rung(shape) is Rung.GRAMMAR for shape in SchemaShape)


async def test_a_model_good_at_little_is_measured_down_to_small_questions() -> None:
    """It keeps tags for flat objects, answers small questions, and ignores schemas."""

    def weak(request: ModelRequest) -> str:
        (rung,) = request.rungs or (Rung.SCHEMA,)
        if rung is Rung.TAGGED and request.prompt_type == "trial_flat":
            return f"<json>{json.dumps(GOOD['trial_flat'])}</json>"
        if rung is Rung.SMALLER and request.prompt_type == "trial_choice":
            return "1"
        return "Let us talk of the sea instead."

    seen: list[tuple[Rung, SchemaShape, Score]] = []
    gate = LadderGate(DirectGate({"script": Script(Line("Hm.", prompt_type="trial_plain"), weak)}))
    profile = await measure(gate, "script", Noon(), tries=2, on_try=lambda *each: seen.append(each))
    assert profile.scores[Rung.SCHEMA] == dict.fromkeys(SchemaShape, Score(2, 0))
    assert profile.scores[Rung.TAGGED][SchemaShape.FLAT] == Score(2, 2)
    assert profile.scores[Rung.SMALLER][SchemaShape.CHOICE] == Score(2, 2)
    assert profile.scores[Rung.SMALLER][SchemaShape.FLAT] == Score(2, 0)
    assert profile.first_rung(SchemaShape.FLAT) is Rung.TAGGED
    assert profile.first_rung(SchemaShape.CHOICE) is Rung.SMALLER
    assert seen[-1] == (Rung.SMALLER, trials()[-1].shape, Score(2, 0))


def test_the_surest_rung_that_works_goes_first_else_the_best() -> None:
    def at(**rates: int) -> Rung:
        scores = {Rung(name): {SchemaShape.FLAT: Score(10, valid)} for name, valid in rates.items()}
        return ModelProfile("m", 0, scores=scores).first_rung(SchemaShape.FLAT)

    assert at(schema=9, tagged=10) is Rung.SCHEMA
    assert at(schema=8, tagged=10) is Rung.TAGGED
    assert at(schema=3, tagged=5, smaller=5) is Rung.TAGGED
    assert ModelProfile("m", 0).first_rung(SchemaShape.FLAT) is Rung.SCHEMA
    assert ModelProfile("m", 0, has_grammar=True).first_rung(SchemaShape.FLAT) is Rung.GRAMMAR


PROFILE = ModelProfile(
    "house:some/model:7b",
    12,
    True,
    {Rung.GRAMMAR: {SchemaShape.FLAT: Score(3, 2)}},
    40,
    12.5,
    Usage(1, 2, 3),
    "Tide \ud83d out",
)


def test_a_profile_survives_on_the_shelf(tmp_path: Path) -> None:
    shelf = ProfileShelf(tmp_path / "not" / "yet")
    assert shelf.find(PROFILE.model) is None
    whole = replace(PROFILE, sample="Tide out")
    path = shelf.save(whole)
    assert path.parent == shelf.folder
    assert shelf.find(PROFILE.model) == whole
    assert ProfileShelf(shelf.folder).find(PROFILE.model) == whole
    assert shelf.find("house:some/model/7b") is None, "ids that look alike are kept apart"
    newer = replace(whole, measured_at=99, tokens_per_second=None)
    ProfileShelf(shelf.folder).save(newer)
    assert shelf.find(PROFILE.model) == newer, "a newer profile is seen at once"
    shelf.save(PROFILE)
    assert shelf.find(PROFILE.model) is not None, "odd text does no harm"


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"version": 99}', '{"version": 1}'])
def test_a_file_that_cannot_be_read_is_as_good_as_none(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = ProfileShelf(tmp_path)
    shelf.path("local").write_text(content)
    with caplog.at_level(logging.WARNING):
        assert shelf.find("local") is None
        assert shelf.find("local") is None
    assert len(caplog.records) == 1


def test_profiles_belong_to_the_user(tmp_path: Path) -> None:
    assert profiles_dir({"CALLBOARD_DATA_DIR": str(tmp_path)}) == tmp_path / "profiles"
    assert "callboard" in str(profiles_dir({}))


async def test_a_stored_profile_changes_how_the_model_is_asked(tmp_path: Path) -> None:
    shelf = ProfileShelf(tmp_path)
    script = Script("7", "<json>{}</json>", "7")
    gate = LadderGate(DirectGate({"script": script}), shelf)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    request = ModelRequest("script", (Message("user", "How many?"),), json_schema=schema)
    with pytest.raises(InvalidReply):
        await gate.complete(replace(request, rungs=(Rung.SCHEMA, Rung.TAGGED)))
    shelf.save(ModelProfile("script", 0, scores={Rung.SMALLER: {SchemaShape.FLAT: Score(3, 3)}}))
    reply = await gate.complete(request)
    assert (reply.data, reply.rungs) == ({"n": 7}, (Rung.SMALLER,))


@pytest.fixture(scope="module")
def local() -> Iterator[DirectGate]:
    directory = weights_dir()
    if find_weights(directory) is None:
        pytest.fail(
            "the embedded model is not there: `callboard models pull`, or -m 'not local_model'"
        )
    settings = LlamaSettings(slots=1, window_tokens=1024)
    gate = DirectGate({"local": LocalProvider(directory, settings)})
    yield gate
    asyncio.run(gate.close())


@pytest.mark.local_model
@pytest.mark.timeout(300)
async def test_the_embedded_model_keeps_every_shape(local: DirectGate) -> None:
    profile = await measure(local, "local", Noon(), tries=1)
    assert profile.scores == {Rung.GRAMMAR: dict.fromkeys(SchemaShape, Score(1, 1))}
    assert profile.has_grammar
    assert profile.sample
    assert (profile.tokens_per_second or 0) > 0
    assert (profile.first_token_ms or 0) > 0


@pytest.mark.local_model
@pytest.mark.timeout(300)
async def test_the_embedded_model_answers_small_questions(local: DirectGate) -> None:
    class Known:
        def find(self, model: str) -> ModelProfile:
            return ModelProfile(model, 0, has_grammar=True)

    schema: dict[str, Any] = trials()[0].schema  # pyright: ignore[reportAssignmentType]
    request = ModelRequest(
        "local",
        (Message("user", trials()[0].question(0)),),
        json_schema=schema,
        rungs=(Rung.SMALLER,),
    )
    reply = await LadderGate(local, Known()).complete(request)
    assert reply.data["feeling"] in ("pleasant", "neutral", "unpleasant")
    assert isinstance(reply.data["umbrella"], bool)

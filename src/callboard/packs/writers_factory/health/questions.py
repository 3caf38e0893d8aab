"""What the judge is asked about scenes: what each does, its theme, its facts, and two side by side.

Every quotation is checked; what rests on an invented one is left out. A small model is asked
nothing here: what it would pick is no judgement, and no figure is made of it.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from callboard.choreography.answers import Answer, Proven, Quote, narrowed, words
from callboard.choreography.questions import Answers, Judge, Question
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.health.checks.theme import ThemeScore
from callboard.packs.writers_factory.health.records import SceneJudgement
from callboard.packs.writers_factory.health.timeline.facts import Pair, PairVerdict, SceneFacts
from callboard.packs.writers_factory.health.values import (
    CastFunction,
    ChallengeType,
    FlawChallenge,
    SymbolStage,
)
from callboard.packs.writers_factory.health.view import (
    CharacterView,
    ManuscriptView,
    SceneView,
    SymbolView,
    is_in_scene,
    mentions,
)
from callboard.packs.writers_factory.model import SymbolUse

_NONE: Final = "none"
_MOST_SYMBOLS: Final = 12


class Challenge(Answer):
    """What a scene does to the flaw, with the words that show it."""

    type: Literal["none", "test", "failure", "growth", "triumph"]
    intensity: int = Field(ge=1, le=10)
    quote: Quote


class SymbolInScene(Answer):
    """What a declared symbol does in a scene."""

    name: str
    stage: SymbolStage


class PersonInScene(Answer):
    """What somebody is for in a scene."""

    character: str
    function: CastFunction
    quote: Quote


class SceneReading(Answer):
    """What a scene does; what there is none of cannot be spoken of."""

    tension: Annotated[
        float,
        Field(ge=1, le=10),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10}),
    ]
    challenge: Challenge
    symbols: SkipJsonSchema[tuple[SymbolInScene, ...]] = ()
    functions: SkipJsonSchema[tuple[PersonInScene, ...]] = ()


async def judge_scene_text(
    judge: Judge, key: str, view: ManuscriptView, scene: SceneView
) -> SceneJudgement:
    """Return what a scene does; a text that was judged before costs nothing."""
    symbols = sorted(named_symbols(view, scene), key=lambda each: each.name)
    people = [each.name for each in _people(view, scene)]
    found = await judge.once(
        key,
        _scene_question(view, scene, symbols, people),
        scene=_prose(scene),
        flaw=_told(view.flaw),
        lie=_told(view.lie),
        symbols=_told(", ".join(symbol.name for symbol in symbols)),
        people=_told(", ".join(people)),
    )
    if found is None:
        return SceneJudgement(scene.scene_id, is_judged=False)
    told = found.challenge
    challenge = None
    if view.flaw and told.type != _NONE and told.quote:
        kind = ChallengeType(told.type)
        challenge = FlawChallenge(
            scene.scene_id, view.flaw, kind, told.intensity, told.quote, detected_by="llm"
        )
    uses = {each.name: SymbolUse(each.name, each.stage.value) for each in found.symbols}
    functions = {each.character: each.function.value for each in found.functions}
    return SceneJudgement(scene.scene_id, found.tension, tuple(uses.values()), challenge, functions)


async def score_theme(
    judge: Judge, key: str, scene: SceneView, statement: str
) -> ThemeScore | None:
    """Return how far a scene tests or expresses the theme."""
    return await judge.once(key, _THEME, scene=_prose(scene), theme=statement)


def known_scores(
    answers: Answers, model: str, scenes: Sequence[SceneView], statement: str
) -> dict[str, ThemeScore]:
    """Return the scores a model has given before, by scene id."""
    asked = {
        scene.scene_id: answers.find(_THEME, model, scene=_prose(scene), theme=statement)
        for scene in scenes
    }
    return {scene_id: found for scene_id, found in asked.items() if found is not None}


async def read_facts(
    judge: Judge, key: str, view: ManuscriptView, scene: SceneView
) -> SceneFacts | None:
    """Return what stands in a scene, under the names the book uses."""
    people = ", ".join(each.name for each in view.characters)
    found = await judge.once(
        key, _FACTS, scene=_prose(scene), people=people or "nobody is known yet"
    )
    if found is None:
        return None

    def named(rows: Sequence[Any]) -> tuple[Any, ...]:
        known = [_known_as(view.characters, row.character) for row in rows]
        return tuple(
            row.model_copy(update={"character": name})
            for row, name in zip(rows, known, strict=True)
        )

    changes = {name: named(getattr(found, name)) for name in ("places", "states", "acts")}
    return found.model_copy(update=changes)


async def judge_pair(
    judge: Judge, key: str, view: ManuscriptView, pair: Pair, suspicion: str = ""
) -> PairVerdict | None:
    """Return whether two scenes can both be true."""
    first, second = (view.by_id[scene_id] for scene_id in pair)
    return await judge.once(
        key,
        _PAIR,
        first=Content(_headed(first), first.scene_id, Trust.UNTRUSTED),
        second=Content(_headed(second), second.scene_id, Trust.UNTRUSTED),
        suspicion=suspicion or "none",
    )


def named_symbols(view: ManuscriptView, scene: SceneView) -> tuple[SymbolView, ...]:
    """Return the declared symbols a scene names."""
    found = [symbol for symbol in view.symbols if mentions(scene.text, symbol.names)]
    return tuple(found[:_MOST_SYMBOLS])


def _scene_question(
    view: ManuscriptView, scene: SceneView, symbols: Sequence[SymbolView], people: Sequence[str]
) -> Question[SceneReading]:
    """Return the question about a scene: only what it names can be spoken of."""
    types: dict[str, Any] = {}
    if symbols:
        names = words([symbol.name for symbol in symbols])
        types["symbols"] = tuple[narrowed(SymbolInScene, name=names), ...]
    if people:
        row = narrowed(PersonInScene, character=words(people))
        types["functions"] = Annotated[tuple[row, ...], Proven]
    return Question(
        "health/scene",
        narrowed(SceneReading, **types),
        about=("scene",),
    )


_THEME: Final = Question("health/theme", ThemeScore, about=("scene",))
# Who is known by now helps with names; a scene is not read anew for every new character.
_FACTS: Final = Question("health/facts", SceneFacts, about=("scene",), hints=("people",))
_PAIR: Final = Question("health/pair", PairVerdict, about=("first", "second"))


def _people(view: ManuscriptView, scene: SceneView) -> tuple[CharacterView, ...]:
    return tuple(each for each in view.supporting if is_in_scene(each, scene))


def _known_as(characters: Sequence[CharacterView], name: str) -> str:
    wanted = name.strip().casefold()
    for character in characters:
        if wanted in {each.casefold() for each in character.names}:
            return character.name
    return name.strip()


def _prose(scene: SceneView) -> Content:
    return Content(scene.text, scene.scene_id, Trust.UNTRUSTED)


def _told(text: str) -> Content:
    return Content(text or "nothing is recorded", "story", Trust.UNTRUSTED)


def _headed(scene: SceneView) -> str:
    noted = [scene.story_time and f"Time: {scene.story_time}"]
    noted.append(scene.location and f"Place: {scene.location}")
    return "\n".join([*(line for line in noted if line), scene.text])

"""Timeline judging: the facts of a scene, and whether two scenes can both be true.

A small model is asked neither: it cannot hold two scenes against each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.health.judging.panel import Asked, Panel
from callboard.packs.writers_factory.health.quotes import evidence_of
from callboard.packs.writers_factory.health.timeline.facts import (
    Act,
    PairVerdict,
    Placed,
    Possession,
    SceneFacts,
    State,
)
from callboard.packs.writers_factory.health.timeline.pairs import Pair, pair_hash
from callboard.packs.writers_factory.health.values import CheckId
from callboard.packs.writers_factory.health.view import CharacterView, ManuscriptView, SceneView

_EXTRACTION: Final = f"{CheckId.TIMELINE.value}/facts"
_PAIR: Final = f"{CheckId.TIMELINE.value}/pair"
_MOST_ITEMS: Final = 20


async def ask_facts(
    panel: Panel, key: str, view: ManuscriptView, scene: SceneView
) -> SceneFacts | None:
    """Return what a model reads in a scene; None if it cannot be asked."""
    judgement = panel.key(_EXTRACTION, scene.content_hash)
    known = panel.cache.get(judgement)
    if known is not None:
        return SceneFacts.from_json({**known, "scene_id": scene.scene_id})
    if panel.is_small:
        return None
    asked = Asked(
        "health/facts",
        _FACTS_SCHEMA,
        {
            "scene": Content(scene.text, scene.scene_id, Trust.UNTRUSTED),
            "people": Content(
                ", ".join(each.name for each in view.characters) or "nobody is known yet",
                "story",
                Trust.UNTRUSTED,
            ),
        },
    )
    data = await panel.ask(key, asked)
    if data is None:
        return None
    found = read_facts(data, view, scene)
    await panel.keep(key, judgement, found.to_json())
    return found


async def ask_pair(
    panel: Panel, key: str, view: ManuscriptView, pair: Pair, suspicion: str = ""
) -> PairVerdict | None:
    """Return what a judge says of two scenes; None if there is none to be had."""
    judgement = panel.key(_PAIR, pair_hash(view, pair), suspicion)
    known = panel.cache.get(judgement)
    if known is not None:
        return PairVerdict.from_json(known)
    if panel.is_small:
        return None
    first, second = (view.by_id[scene_id] for scene_id in pair)
    asked = Asked(
        "health/pair",
        _PAIR_SCHEMA,
        {
            "first": Content(_headed(first), first.scene_id, Trust.UNTRUSTED),
            "second": Content(_headed(second), second.scene_id, Trust.UNTRUSTED),
            "suspicion": Content(suspicion or "none", "story", Trust.UNTRUSTED),
        },
    )
    data = await panel.ask(key, asked)
    if data is None:
        return None
    found = PairVerdict(
        data["verdict"], data["title"], data["fix"], data["first_quote"], data["second_quote"]
    )
    await panel.keep(key, judgement, found.to_json())
    return found


def read_facts(data: Mapping[str, Any], view: ManuscriptView, scene: SceneView) -> SceneFacts:
    """Take from an answer what stands in the text, under the names the book uses."""

    def proven(name: str) -> list[Mapping[str, Any]]:
        rows: Sequence[Mapping[str, Any]] = data.get(name) or ()
        return [row for row in rows[:_MOST_ITEMS] if evidence_of(scene, str(row["quote"]))]

    def who(row: Mapping[str, Any]) -> str:
        return _known_as(view.characters, str(row["character"]))

    return SceneFacts(
        scene_id=scene.scene_id,
        story_time=str(data.get("story_time") or ""),
        places=tuple(Placed(who(row), row["place"], row["quote"]) for row in proven("places")),
        states=tuple(
            State(who(row), row["state"], row["quote"], row["detail"]) for row in proven("states")
        ),
        things=tuple(
            Possession(row["thing"], row["status"], row["quote"], row["owner"])
            for row in proven("things")
        ),
        acts=tuple(Act(who(row), row["quote"]) for row in proven("acts")),
    )


def _known_as(characters: Sequence[CharacterView], name: str) -> str:
    wanted = name.strip().casefold()
    for character in characters:
        if wanted in {each.casefold() for each in character.names}:
            return character.name
    return name.strip()


def _headed(scene: SceneView) -> str:
    noted = [scene.story_time and f"Time: {scene.story_time}"]
    noted.append(scene.location and f"Place: {scene.location}")
    return "\n".join([*(line for line in noted if line), scene.text])


def _rows(**properties: list[str] | None) -> dict[str, Json]:
    """Return a list of rows of texts; a list of words is all that may stand there."""
    shape: dict[str, Json] = {
        name: {"type": "string"} if words is None else {"type": "string", "enum": words}
        for name, words in properties.items()
    }
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": shape,
            "required": list(shape),
            "additionalProperties": False,
        },
    }


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Final = {"type": "string"}
_FACTS_SCHEMA: Final = _object(
    story_time=_TEXT,
    places=_rows(character=None, place=None, quote=None),
    states=_rows(
        character=None, state=["alive", "dead", "injured", "knows"], detail=None, quote=None
    ),
    things=_rows(
        thing=None, owner=None, status=["has", "used", "lost", "destroyed", "found"], quote=None
    ),
    acts=_rows(character=None, quote=None),
)
_PAIR_SCHEMA: Final = _object(
    verdict={"type": "string", "enum": ["none", "doubtful", "impossible"]},
    title=_TEXT,
    fix=_TEXT,
    first_quote=_TEXT,
    second_quote=_TEXT,
)

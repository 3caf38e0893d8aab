"""Scene judging: what an accepted scene does, asked once for its text.

Tension, symbols, the challenge to the flaw, and what its people are for. Every quotation is
checked; a challenge without one is none. A small model only picks from what code has found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.health.judging.panel import Asked, Panel
from callboard.packs.writers_factory.health.judging.small import (
    pick_quote,
    pick_stage,
    pick_tension,
    pick_type,
)
from callboard.packs.writers_factory.health.quotes import content_stems, evidence_of
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

CHECK: Final = "scene"
_NONE: Final = "none"
_MOST_SYMBOLS: Final = 12


@dataclass(frozen=True, slots=True)
class SceneJudgement:
    """What a scene does, as a judge or the writer sees it."""

    scene_id: str
    tension: float | None = None
    symbols: tuple[SymbolUse, ...] = ()
    challenge: FlawChallenge | None = None
    # What people of the scene are for: name to function.
    functions: Mapping[str, str] | None = None
    # Whether the judge could be asked; what is left out then is unknown.
    is_judged: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "tension": self.tension,
            "symbols": [{"name": use.name, "stage": use.stage} for use in self.symbols],
            "challenge": None if self.challenge is None else self.challenge.to_json(),
            "functions": dict(self.functions or {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SceneJudgement":
        """Read the stored shape."""
        told = data["challenge"]
        return cls(
            scene_id=data["scene_id"],
            tension=data["tension"],
            symbols=tuple(SymbolUse(use["name"], use["stage"]) for use in data["symbols"]),
            challenge=None if told is None else FlawChallenge.from_json(told),
            functions=data["functions"],
        )


async def ask_scene(
    panel: Panel, key: str, view: ManuscriptView, scene: SceneView
) -> SceneJudgement:
    """Return what a scene does; a text that was judged before costs nothing."""
    symbols = named_symbols(view, scene)
    names = sorted(symbol.name for symbol in symbols)
    judgement = panel.key(CHECK, scene.content_hash, view.flaw, *names)
    known = panel.cache.get(judgement)
    if known is not None:
        # The same text may stand in two scenes.
        return SceneJudgement.from_json({**known, "scene_id": scene.scene_id})
    ask = _ask_small if panel.is_small else _ask_full
    found = await ask(panel, key, view, scene, symbols)
    if found.is_judged:
        await panel.keep(key, judgement, found.to_json())
    return found


def named_symbols(view: ManuscriptView, scene: SceneView) -> tuple[SymbolView, ...]:
    """Return the declared symbols a scene names."""
    found = [symbol for symbol in view.symbols if mentions(scene.text, symbol.names)]
    return tuple(found[:_MOST_SYMBOLS])


def read_judgement(
    data: Mapping[str, Any], view: ManuscriptView, scene: SceneView, symbols: Sequence[SymbolView]
) -> SceneJudgement:
    """Take from an answer what holds against the text."""
    declared = {symbol.name for symbol in symbols}
    people = {each.name for each in _people(view, scene)}
    uses = [
        SymbolUse(str(use["name"]), str(use["stage"]))
        for use in data.get("symbols") or ()
        if use["name"] in declared
    ]
    functions = {
        str(each["character"]): str(each["function"])
        for each in data.get("functions") or ()
        if each["character"] in people and evidence_of(scene, str(each.get("quote", "")))
    }
    return SceneJudgement(
        scene.scene_id,
        float(data["tension"]),
        tuple({use.name: use for use in uses}.values()),
        _challenge(data.get("challenge") or {}, view, scene),
        functions,
    )


def _challenge(
    told: Mapping[str, Any], view: ManuscriptView, scene: SceneView
) -> FlawChallenge | None:
    quote = str(told.get("quote", ""))
    if not view.flaw or told.get("type", _NONE) == _NONE or not evidence_of(scene, quote):
        return None
    return FlawChallenge(
        scene.scene_id,
        view.flaw,
        ChallengeType(told["type"]),
        int(told["intensity"]),
        quote,
        detected_by="llm",
    )


async def _ask_full(
    panel: Panel,
    key: str,
    view: ManuscriptView,
    scene: SceneView,
    symbols: Sequence[SymbolView],
) -> SceneJudgement:
    people = _people(view, scene)
    asked = Asked(
        "health/scene",
        _schema([symbol.name for symbol in symbols], [each.name for each in people]),
        {
            "scene": Content(scene.text, scene.scene_id, Trust.UNTRUSTED),
            "flaw": _told(view.flaw),
            "lie": _told(view.lie),
            "symbols": _told(", ".join(symbol.name for symbol in symbols)),
            "people": _told(", ".join(each.name for each in people)),
        },
    )
    data = await panel.ask(key, asked)
    if data is None:
        return SceneJudgement(scene.scene_id, is_judged=False)
    return read_judgement(data, view, scene, symbols)


async def _ask_small(
    panel: Panel,
    key: str,
    view: ManuscriptView,
    scene: SceneView,
    symbols: Sequence[SymbolView],
) -> SceneJudgement:
    tension = await pick_tension(panel, f"{key}/tension", scene)
    if tension is None:
        return SceneJudgement(scene.scene_id, is_judged=False)
    uses = [
        SymbolUse(
            symbol.name,
            await pick_stage(panel, f"{key}/symbol/{number}", scene, symbol.names)
            if _was_named_before(view, scene, symbol)
            else SymbolStage.INTRODUCTION.value,
        )
        for number, symbol in enumerate(symbols, start=1)
    ]
    challenge = await _pick_challenge(panel, f"{key}/challenge", view, scene)
    return SceneJudgement(scene.scene_id, tension, tuple(uses), challenge, {})


async def _pick_challenge(
    panel: Panel, key: str, view: ManuscriptView, scene: SceneView
) -> FlawChallenge | None:
    """Have a small model say how the flaw is tested, where the text speaks of it at all."""
    about = f"{view.flaw} {view.lie}"
    if not view.flaw or not content_stems(about) & content_stems(scene.text):
        return None
    kind = await pick_type(panel, f"{key}/type", scene, view.flaw)
    if kind == _NONE:
        return None
    quote = await pick_quote(panel, f"{key}/quote", scene, about)
    if not evidence_of(scene, quote):
        return None
    return FlawChallenge(scene.scene_id, view.flaw, ChallengeType(kind), 5, quote, "llm")


def _was_named_before(view: ManuscriptView, scene: SceneView, symbol: SymbolView) -> bool:
    place = view.positions.get(scene.scene_id, len(view.scenes))
    return any(mentions(each.text, symbol.names) for each in view.scenes[:place])


def _people(view: ManuscriptView, scene: SceneView) -> tuple[CharacterView, ...]:
    return tuple(each for each in view.supporting if is_in_scene(each, scene))


def _told(text: str) -> Content:
    return Content(text or "nothing is recorded", "story", Trust.UNTRUSTED)


def _schema(symbols: list[str], people: list[str]) -> dict[str, Json]:
    """Return what may be answered; what there is none of cannot be spoken of."""
    quote: dict[str, Json] = {"type": "string"}
    properties: dict[str, Json] = {
        "tension": {"type": "integer", "minimum": 1, "maximum": 10},
        "challenge": _object(
            type={"type": "string", "enum": [_NONE, *(each.value for each in ChallengeType)]},
            intensity={"type": "integer", "minimum": 1, "maximum": 10},
            quote=quote,
        ),
    }
    if symbols:
        properties["symbols"] = _list(
            name={"type": "string", "enum": symbols},
            stage={"type": "string", "enum": [each.value for each in SymbolStage]},
        )
    if people:
        properties["functions"] = _list(
            character={"type": "string", "enum": people},
            function={"type": "string", "enum": [each.value for each in CastFunction]},
            quote=quote,
        )
    return _object(**properties)


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(**properties: Json) -> dict[str, Json]:
    return {"type": "array", "items": _object(**properties)}

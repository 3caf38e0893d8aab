"""Describing a voice: what a judge says about the chosen passage, as far as it can be believed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.prose import Pattern
from callboard.packs.writers_factory.voice.bundle.content import Advice
from callboard.packs.writers_factory.voice.bundle.evolution import (
    ACTS,
    MOODS,
    Arc,
    Phase,
    usual_evolution,
)
from callboard.packs.writers_factory.voice.tournament.scoring import metaphor_fields
from callboard.packs.writers_factory.voice.tournament.tournaments import Tournament
from callboard.packs.writers_factory.voice.tournament.variants import Variant
from callboard.replies.evidence import holds_quote, is_quotable

_PROMPT: Final = "voice_bundle"
_REPLY_TOKENS: Final = 2_500
_SMALL_TOKENS: Final = 60
_REJECTED_CHARS: Final = 600
_MOST_REJECTED: Final = 4
_MOST_DOMAINS: Final = 5
_DIMENSION_ADVICE: Final[Mapping[str, str]] = {
    "voice_authenticity": "Keep this teller",
    "prose_quality": "Keep words as exact as here",
    "rhythm": "Let sentences move like this one",
    "interiority": "Let thought show like this",
    "dialogue": "Let people talk like this",
    "genre_and_world_fit": "Stay this close to the world of the book",
}


@dataclass(frozen=True, slots=True)
class Description:
    """What is said about a voice."""

    advice: tuple[Advice, ...]
    domains: tuple[str, ...]
    avoid: tuple[Pattern, ...]
    evolution: Mapping[str, Phase]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be described: the passage, its rivals, and the protagonist's way."""

    tournament: Tournament
    winner: Variant
    rejected: tuple[Variant, ...]
    arc: Arc

    def usual(self, moods: Mapping[str, str] | None = None) -> Description:
        """Return what code can say about it."""
        domains = metaphor_fields(self.winner.text)
        return Description(
            tuple(
                Advice(_DIMENSION_ADVICE[each.dimension], each.quote)
                for each in self.winner.scores
                if each.quote
            ),
            domains,
            (),
            usual_evolution(self.arc, self.winner.metrics, domains, moods),
        )


async def describe_voice(
    stage: Stage, chosen: Chosen, *, model: str, is_small: bool
) -> Description:
    """Ask a judge about the voice; what is not said, or not proven, code says."""
    try:
        if is_small:
            return chosen.usual(await _ask_moods(stage, chosen.arc, model))
        return completed(chosen, await _ask(stage, chosen, model))
    except CallboardError as error:
        usual = chosen.usual()
        why = f"The voice is described by code alone: {error.message}"
        return Description(usual.advice, usual.domains, (), usual.evolution, why)


def completed(chosen: Chosen, said: Mapping[str, Any]) -> Description:
    """Return what a judge said, as far as its quotations hold, with code's word for the rest."""
    usual = chosen.usual()
    told = (
        Advice(_line(each.get("advice")), _line(each.get("quote")).strip('"“”'))
        for each in _entries(said.get("do"))
    )
    advice = tuple(
        each
        for each in told
        if each.advice and is_quotable(each.quote) and holds_quote(chosen.winner.text, each.quote)
    )
    named = said.get("metaphor_domains")
    listed: list[Any] = cast("list[Any]", named) if isinstance(named, list) else []
    domains = tuple(_line(each) for each in listed if _line(each))[:_MOST_DOMAINS]
    avoid = tuple(
        Pattern(
            _line(each.get("pattern")),
            description=_line(each.get("pattern")),
            why=_line(each.get("why")),
            instead=_line(each.get("instead")),
        )
        for each in _entries(said.get("avoid"))
        if _line(each.get("pattern"))
    )
    evolution = {
        act: _phase(said.get(f"act_{act}")).completed(usual.evolution[act]) for act in ACTS
    }
    return Description(advice or usual.advice, domains or usual.domains, avoid, evolution)


async def _ask(stage: Stage, chosen: Chosen, model: str) -> Mapping[str, Any]:
    known = "\n".join(filter(None, (chosen.tournament.context, chosen.arc.told())))
    others = "\n\n---\n\n".join(
        each.text[:_REJECTED_CHARS] for each in chosen.rejected[:_MOST_REJECTED]
    )
    reply = await stage.ask(
        "describe",
        JUDGE,
        prompt=_PROMPT,
        model=model,
        schema=_schema(),
        max_tokens=_REPLY_TOKENS,
        passage=chosen.winner.text,
        notes=chosen.tournament.notes or "Nothing.",
        context=known,
        rejected=others or "None.",
    )
    return reply.fields


async def _ask_moods(stage: Stage, arc: Arc, model: str) -> dict[str, str]:
    """Let a small judge pick one mood for each act."""
    names = [f"part_{number}" for number, _ in enumerate(ACTS, start=1)]
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {name: {"type": "string", "enum": list(MOODS)} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    reply = await stage.ask(
        "describe",
        JUDGE,
        prompt=_PROMPT,
        model=model,
        schema=schema,
        max_tokens=_SMALL_TOKENS,
        arc_start=_plain(arc.start or "the beginning"),
        arc_midpoint=_plain(arc.midpoint or "the turning point"),
        arc_resolution=_plain(arc.resolution or "the end"),
    )
    said = reply.fields
    picked = {act: str(said.get(name)) for act, name in zip(ACTS, names, strict=True)}
    # One word for the whole book is no answer: then the usual way of a voice is the better guess.
    return picked if len(set(picked.values())) > 1 else {}


def _plain(text: str) -> Content:
    return Content(text, "bible", Trust.UNTRUSTED)


def _schema() -> dict[str, Json]:
    text: dict[str, Json] = {"type": "string"}
    texts: dict[str, Json] = {"type": "array", "items": text, "maxItems": _MOST_DOMAINS}
    phase = _object(voice_state=text, sentence_rhythm=text, metaphor_domains=texts, can_admit=text)
    do = {"type": "array", "items": _object(advice=text, quote=text), "maxItems": 6}
    avoid = {
        "type": "array",
        "items": _object(pattern=text, why=text, instead=text),
        "maxItems": 5,
    }
    acts = {f"act_{act}": phase for act in ACTS}
    return _object(metaphor_domains=texts, do=do, avoid=avoid, **acts)


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _phase(value: Any) -> Phase:
    return Phase.from_json(cast("dict[str, Any]", value)) if isinstance(value, dict) else Phase()


def _entries(value: Any) -> Sequence[dict[str, Any]]:
    listed: list[Any] = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", each) for each in listed if isinstance(each, dict)]


def _line(value: Any) -> str:
    return " ".join(str(value or "").split())

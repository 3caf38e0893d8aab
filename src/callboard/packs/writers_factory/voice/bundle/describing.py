"""Describing a voice: what a judge says about the chosen passage, as far as it can be believed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field

from callboard.choreography.answers import Answer, Proven, Quote, choices
from callboard.choreography.questions import Judge, Question
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.prose import Pattern
from callboard.packs.writers_factory.voice.bundle.content import Advice
from callboard.packs.writers_factory.voice.bundle.evolution import (
    ACTS,
    MOODS,
    MOST_DOMAINS,
    Arc,
    Phase,
    usual_evolution,
)
from callboard.packs.writers_factory.voice.tournament.scoring import metaphor_fields
from callboard.packs.writers_factory.voice.tournament.tournaments import Tournament
from callboard.packs.writers_factory.voice.tournament.variants import Variant

_PROMPT: Final = "voice_bundle"
_REPLY_TOKENS: Final = 2_500
_SMALL_TOKENS: Final = 60
_REJECTED_CHARS: Final = 600
_MOST_REJECTED: Final = 4
_Texts = Annotated[tuple[str, ...], Field(max_length=MOST_DOMAINS)]
_DIMENSION_ADVICE: Final[Mapping[str, str]] = {
    "voice_authenticity": "Keep this teller",
    "prose_quality": "Keep words as exact as here",
    "rhythm": "Let sentences move like this one",
    "interiority": "Let thought show like this",
    "dialogue": "Let people talk like this",
    "genre_and_world_fit": "Stay this close to the world of the book",
}


@dataclass(frozen=True, slots=True)
class VoiceDescription:
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

    def usual(self, moods: Mapping[str, str] | None = None) -> VoiceDescription:
        """Return what code can say about it."""
        domains = metaphor_fields(self.winner.text)
        return VoiceDescription(
            tuple(
                Advice(_DIMENSION_ADVICE[each.dimension], each.quote)
                for each in self.winner.scores
                if each.quote
            ),
            domains,
            (),
            usual_evolution(self.arc, self.winner.metrics, domains, moods),
        )


class AdviceSaid(Answer):
    """What the passage does well, in its own words."""

    advice: str
    quote: Quote


class PatternSaid(Answer):
    """What would not sound like this voice."""

    pattern: str
    why: str
    instead: str


class VoiceSaid(Answer):
    """What a judge says about a voice."""

    metaphor_domains: _Texts
    do: Annotated[tuple[AdviceSaid, ...], Field(max_length=6), Proven]
    avoid: Annotated[tuple[PatternSaid, ...], Field(max_length=5)]
    act_1: Phase
    act_2a: Phase
    act_2b: Phase
    act_3: Phase

    def phase(self, act: str) -> Phase:
        """Return what is said about an act."""
        said: Phase = getattr(self, f"act_{act}")
        return Phase.from_json(said.to_json())


VOICE: Final = Question(_PROMPT, VoiceSaid, about=("passage",), max_tokens=_REPLY_TOKENS)
"""What a voice does, avoids, and becomes in each act."""


async def describe_voice(judge: Judge, chosen: Chosen) -> VoiceDescription:
    """Ask a judge about the voice; what is not said, or not proven, code says."""
    if judge.is_small:
        moods = await _ask_moods(judge, chosen.arc)
        if moods is not None:
            return chosen.usual(moods)
    else:
        known = "\n".join(filter(None, (chosen.tournament.context, chosen.arc.told())))
        others = "\n\n---\n\n".join(
            each.text[:_REJECTED_CHARS] for each in chosen.rejected[:_MOST_REJECTED]
        )
        # Not kept for later: a bundle is described in the one run that makes it.
        said = await judge.ask(
            "describe",
            VOICE,
            passage=chosen.winner.text,
            notes=chosen.tournament.notes or "Nothing.",
            context=known,
            rejected=others or "None.",
        )
        if said is not None:
            return completed(chosen, said)
    why = f"The voice is described by code alone: {judge.why}"
    return replace(chosen.usual(), warning=why)


def completed(chosen: Chosen, said: VoiceSaid) -> VoiceDescription:
    """Return what a judge said, as far as its quotations hold, with code's word for the rest."""
    usual = chosen.usual()
    advice = tuple(
        Advice(_line(each.advice), _line(each.quote)) for each in said.do if _line(each.advice)
    )
    domains = tuple(_line(each) for each in said.metaphor_domains if _line(each))
    avoid = tuple(
        Pattern(
            _line(each.pattern),
            description=_line(each.pattern),
            why=_line(each.why),
            instead=_line(each.instead),
        )
        for each in said.avoid
        if _line(each.pattern)
    )
    evolution = {act: said.phase(act).completed(usual.evolution[act]) for act in ACTS}
    return VoiceDescription(advice or usual.advice, domains or usual.domains, avoid, evolution)


async def _ask_moods(judge: Judge, arc: Arc) -> dict[str, str] | None:
    """Let a small judge pick one mood for each act."""
    names = [f"part_{number}" for number, _ in enumerate(ACTS, start=1)]
    moods = choices(**dict.fromkeys(names, MOODS))
    said = await judge.ask(
        "describe",
        Question(_PROMPT, moods, max_tokens=_SMALL_TOKENS),
        arc_start=_plain(arc.start or "the beginning"),
        arc_midpoint=_plain(arc.midpoint or "the turning point"),
        arc_resolution=_plain(arc.resolution or "the end"),
    )
    if said is None:
        return None
    picked = {act: getattr(said, name) for act, name in zip(ACTS, names, strict=True)}
    # One word for the whole book is no answer: then the usual way of a voice is the better guess.
    return picked if len(set(picked.values())) > 1 else {}


def _plain(text: str) -> Content:
    return Content(text, "bible", Trust.UNTRUSTED)


def _line(value: str) -> str:
    return " ".join(value.split())

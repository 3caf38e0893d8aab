"""Judging a passage: six scores with quotations, by a judge who does not know who wrote it.

A score is the judge's if its quotation stands in the passage. Every other one is code's own, and
marked as such; what the judge did not say is never put into its mouth.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema

from callboard.choreography.answers import Answer, Quote, choices, narrowed
from callboard.choreography.questions import Judge, Question
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.voice.tournament.scoring import Scored, reduced
from callboard.packs.writers_factory.voice.tournament.variants import DIMENSIONS, DimensionScore

_PROMPT: Final = "judge_passage"
_REPLY_TOKENS: Final = 1_500
_SMALL_TOKENS: Final = 40
_CANDIDATES: Final = 5
_CANDIDATE_CHARS: Final = 160
_GRADES: Final[Mapping[str, float]] = {"strong": 0.1, "fair": 0.0, "weak": -0.1}
_VOICE: Final = "voice_authenticity"


class GivenScore(Answer):
    """A score in one dimension, with the words it rests on."""

    score: float
    quote: Quote
    reason: str


def _up_to(most: int) -> Any:
    """Return the type of a score: more than can be had is as much as can be had."""

    def held(score: Any) -> Any:
        return max(0.0, min(float(most), score)) if isinstance(score, int | float) else score

    shape = WithJsonSchema({"type": "integer", "minimum": 0, "maximum": most})
    return Annotated[float, BeforeValidator(held), shape]


_SIX: Final = {name: narrowed(GivenScore, score=_up_to(most)) for name, most in DIMENSIONS.items()}
PASSAGE: Final = Question(
    _PROMPT, narrowed(Answer, **_SIX), about=("passage",), max_tokens=_REPLY_TOKENS
)
"""The six scores of a passage, by the names of the dimensions."""


async def judge_passage(
    judge: Judge, passage: Scored, *, test_prompt: str, context: str
) -> tuple[DimensionScore, ...]:
    """Return the six scores of a passage, what the sheet's patterns cost taken off."""
    own = passage.scores()
    if judge.is_small:
        return reduced(await _pick(judge, passage, own), passage.hits)
    # Not kept for later: a passage is judged in the one run that wrote it.
    found = await judge.ask(
        "judge", PASSAGE, test_prompt=test_prompt, context=context, passage=passage.text
    )
    return reduced(believed(found, own), passage.hits)


def believed(found: Answer | None, own: tuple[DimensionScore, ...]) -> tuple[DimensionScore, ...]:
    """Return a judge's scores as far as their quotations hold, and code's for the rest."""
    return own if found is None else tuple(_believed(found, each) for each in own)


def _believed(found: Answer, own: DimensionScore) -> DimensionScore:
    given: GivenScore = getattr(found, own.dimension)
    if not given.quote:
        return own
    score, reason = round(given.score, 1), " ".join(given.reason.split())
    return DimensionScore(own.dimension, score, own.most, given.quote, reason, "judge")


async def _pick(
    judge: Judge, passage: Scored, own: tuple[DimensionScore, ...]
) -> tuple[DimensionScore, ...]:
    """Let a small judge choose a sentence by its number and a grade; the rest is arithmetic."""
    offered = passage.candidates(_CANDIDATES)
    if not offered:
        return own
    numbers = [str(number) for number, _ in enumerate(offered, start=1)]
    listed = "\n".join(
        f"{number}. {text[:_CANDIDATE_CHARS]}" for number, text in enumerate(offered, start=1)
    )
    picks = choices(sentence=numbers, voice=tuple(_GRADES))
    said = await judge.ask(
        "judge",
        Question(_PROMPT, picks, max_tokens=_SMALL_TOKENS),
        passage=passage.text,
        candidates=Content(listed, "candidates", Trust.UNTRUSTED),
    )
    if said is None:
        return own
    picked = said.model_dump()
    quote, grade = offered[int(picked["sentence"]) - 1], str(picked["voice"])
    return tuple(
        replace(
            each,
            quote=quote,
            score=_graded(each, grade),
            reason=f"{each.reason}; the judge calls it {grade}",
            source="judge",
        )
        if each.dimension == _VOICE
        else each
        for each in own
    )


def _graded(score: DimensionScore, grade: str) -> float:
    moved = score.score + score.most * _GRADES.get(grade, 0.0)
    return round(max(0.0, min(float(score.most), moved)), 1)

"""Judging a passage: six scores with quotations, by a judge who does not know who wrote it.

A score is believed if its quotation stands in the passage; otherwise code's own takes its place.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.voice.tournament.scoring import Scored, reduced
from callboard.packs.writers_factory.voice.tournament.variants import DIMENSIONS, DimensionScore
from callboard.replies.evidence import holds_quote, is_quotable

_PROMPT: Final = "judge_passage"
_REPLY_TOKENS: Final = 1_500
_SMALL_TOKENS: Final = 40
_CANDIDATES: Final = 5
_CANDIDATE_CHARS: Final = 160
_GRADES: Final[Mapping[str, float]] = {"strong": 0.1, "fair": 0.0, "weak": -0.1}
_VOICE: Final = "voice_authenticity"


async def judge_passage(
    stage: Stage, passage: Scored, *, model: str, test_prompt: str, context: str, is_small: bool
) -> tuple[DimensionScore, ...]:
    """Return the six scores of a passage, what the sheet's patterns cost taken off."""
    own = passage.scores()
    try:
        if is_small:
            scores = await _pick(stage, passage, own, model)
        else:
            scores = await _ask(stage, passage, own, model, test_prompt, context)
    except CallboardError:
        # A judge who cannot be reached spoils no tournament: what code knows still stands.
        scores = own
    return reduced(scores, passage.hits)


def believed(
    text: str, said: Mapping[str, Any], own: tuple[DimensionScore, ...]
) -> tuple[DimensionScore, ...]:
    """Return a judge's scores as far as their quotations hold, and code's for the rest."""
    found: list[DimensionScore] = []
    for fallback in own:
        given: Any = said.get(fallback.dimension)
        entry = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        score, quote = entry.get("score"), str(entry.get("quote") or "").strip().strip('"“”')
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if not is_number or not is_quotable(quote) or not holds_quote(text, quote):
            found.append(fallback)
            continue
        within = max(0.0, min(float(fallback.most), float(cast("float", score))))
        reason = " ".join(str(entry.get("reason") or "").split())
        found.append(
            DimensionScore(
                fallback.dimension, round(within, 1), fallback.most, quote, reason, "judge"
            )
        )
    return tuple(found)


async def _ask(
    stage: Stage,
    passage: Scored,
    own: tuple[DimensionScore, ...],
    model: str,
    test_prompt: str,
    context: str,
) -> tuple[DimensionScore, ...]:
    reply = await stage.ask(
        "judge",
        JUDGE,
        prompt=_PROMPT,
        model=model,
        schema=_schema(),
        max_tokens=_REPLY_TOKENS,
        test_prompt=test_prompt,
        context=context,
        passage=passage.text,
    )
    return believed(passage.text, reply.fields, own)


async def _pick(
    stage: Stage, passage: Scored, own: tuple[DimensionScore, ...], model: str
) -> tuple[DimensionScore, ...]:
    """Let a small judge choose a sentence by its number and a grade; the rest is arithmetic."""
    offered = passage.candidates(_CANDIDATES)
    if not offered:
        return own
    numbers = [str(number) for number, _ in enumerate(offered, start=1)]
    listed = "\n".join(
        f"{number}. {text[:_CANDIDATE_CHARS]}" for number, text in enumerate(offered, start=1)
    )
    reply = await stage.ask(
        "judge",
        JUDGE,
        prompt=_PROMPT,
        model=model,
        schema=_choices({"sentence": numbers, "voice": list(_GRADES)}),
        max_tokens=_SMALL_TOKENS,
        passage=passage.text,
        candidates=Content(listed, "candidates", Trust.UNTRUSTED),
    )
    said = reply.fields
    quote = offered[int(str(said.get("sentence", "1"))) - 1]
    grade = str(said.get("voice", "fair"))
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


def _choices(options: Mapping[str, list[str]]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "enum": each} for name, each in options.items()},
        "required": list(options),
        "additionalProperties": False,
    }


def _schema() -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {
            name: {
                "type": "object",
                "properties": {
                    "score": {"type": "integer", "minimum": 0, "maximum": most},
                    "quote": {"type": "string"},
                    "reason": {"type": "string"},
                },
                "required": ["score", "quote", "reason"],
                "additionalProperties": False,
            }
            for name, most in DIMENSIONS.items()
        },
        "required": list(DIMENSIONS),
        "additionalProperties": False,
    }

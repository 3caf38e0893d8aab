"""Judging: asks the judge about a scene, once per text, and keeps what it said.

A small model is held to words and to the number of a line it may point at. A verdict is kept by
what was shown and by whom it was judged, so an unchanged scene is never paid for twice.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, Effect, Trust
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import SceneAnalysis
from callboard.packs.writers_factory.revision.analysis.quotes import sentences_of
from callboard.packs.writers_factory.revision.analysis.scoring import score_scene
from callboard.packs.writers_factory.revision.analysis.verdict import (
    choice_schema,
    read_verdict,
    verdict_of_choices,
    verdict_schema,
)
from callboard.packs.writers_factory.staff import is_small, model_of

VERDICT_KIND: Final = "scene_verdict"
_PROMPT: Final = "revision/judge_scene"
_MOST_CANDIDATES: Final = 8
_LONGEST_CANDIDATE_CHARS: Final = 140
_CHOICE_TOKENS: Final = 120


@dataclass(frozen=True, slots=True)
class Judged:
    """A text that is to be analyzed: its name in the run's keys, its words, its brief."""

    key: str
    text: str
    brief: SceneBrief


async def analyze_text(stage: Stage, judged: Judged, *, is_fast: bool = False) -> SceneAnalysis:
    """Return the analysis of a text; fast means that no model is asked."""
    ground = Ground(stage.studio)
    settings = ground.settings.analysis
    if is_fast or not judged.text.strip():
        return score_scene(judged.text, judged.brief, None, settings, is_fast=True)
    model = model_of(ground, JUDGE)
    said = await _verdict(stage, judged, model)
    verdict = read_verdict(said)
    return score_scene(judged.text, judged.brief, verdict, settings, judged_by=model)


async def _verdict(stage: Stage, judged: Judged, model: str) -> Json:
    records = Ground(stage.studio).records
    name = judged.brief.judge_key(judged.text, model)

    def look(key: str) -> Json:
        return records.get(VERDICT_KIND, key)

    # Journaled: a verdict kept meanwhile must not change the way a run takes when it is resumed.
    kept = await stage.step(f"{judged.key}/kept", look, name)
    if kept is not None:
        return kept["verdict"]
    said = await _ask(stage, judged, model)

    async def keep(key: str, verdict: Json) -> None:
        await records.put(VERDICT_KIND, key, {"verdict": verdict, "model": model})

    await stage.step(f"{judged.key}/keep", keep, name, said, effect=Effect.IDEMPOTENT)
    return said


async def _ask(stage: Stage, judged: Judged, model: str) -> Json:
    scene = Content(judged.text, f"scene:{judged.brief.scene_id}", Trust.UNTRUSTED)
    if not is_small(Ground(stage.studio), model):
        shown: dict[str, Any] = {
            name: _shown(name, text) for name, text in asdict(judged.brief.judge).items()
        }
        reply = await stage.ask(
            f"{judged.key}/judge",
            JUDGE,
            prompt=_PROMPT,
            schema=verdict_schema(),
            model=model,
            scene=scene,
            **shown,
        )
        return reply.data
    candidates = candidate_lines(judged.text)
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(candidates, start=1))
    reply = await stage.ask(
        f"{judged.key}/judge",
        JUDGE,
        prompt=f"{_PROMPT}_small",
        schema=choice_schema(len(candidates)),
        max_tokens=_CHOICE_TOKENS,
        model=model,
        lines=Content(listed, f"scene:{judged.brief.scene_id}", Trust.UNTRUSTED),
    )
    return verdict_of_choices(reply.data, candidates)


def candidate_lines(text: str) -> tuple[str, ...]:
    """Return sentences of a scene a small model can point at, spread over the whole of it."""
    short = [
        each.quote
        for each in sentences_of(text)
        if 12 <= len(each.quote) <= _LONGEST_CANDIDATE_CHARS
    ]
    chosen = short or [each.quote[:_LONGEST_CANDIDATE_CHARS] for each in sentences_of(text)]
    step = max(1, len(chosen) // _MOST_CANDIDATES)
    return tuple(dict.fromkeys(chosen[::step]))[:_MOST_CANDIDATES]


def _shown(name: str, text: Json) -> Content:
    return Content(str(text) or "(nothing known)", f"story:{name}", Trust.UNTRUSTED)

"""Judging: asks the judge about a scene, once per text and judge.

A small model is held to words and to the number of a line it may point at. A scene the judge does
not answer for is scored by what code can measure, and says so.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from callboard.choreography.answers import Answer
from callboard.choreography.questions import Judge, Question
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import (
    SceneAnalysis,
    Verdict,
    picks_of,
    verdict_of,
)
from callboard.packs.writers_factory.revision.analysis.quotes import sentences_of
from callboard.packs.writers_factory.revision.analysis.scoring import score_scene
from callboard.packs.writers_factory.workspace import Workspace

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


async def analyze_text(stage: Stage, judged: Judged, judge: Judge | None) -> SceneAnalysis:
    """Return the analysis of a text; without a judge no model is asked."""
    settings = Workspace(stage.studio).settings.analysis
    if judge is None or not judged.text.strip():
        return score_scene(judged.text, judged.brief, None, settings, is_fast=True)
    shown = {
        name: Content(str(text) or "(nothing known)", f"story:{name}", Trust.UNTRUSTED)
        for name, text in asdict(judged.brief.judge).items()
    }
    scene = Content(judged.text, f"scene:{judged.brief.scene_id}", Trust.UNTRUSTED)
    verdict = await judge.once(f"{judged.key}/judge", _SCENE, scene=scene, **shown)
    if verdict is None:
        return score_scene(judged.text, judged.brief, None, settings, unjudged=judge.why)
    return score_scene(judged.text, judged.brief, verdict, settings, judged_by=judge.model)


async def _pick_verdict(judge: Judge, key: str, told: Mapping[str, str]) -> Verdict | None:
    lines = candidate_lines(told["scene"])
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    question: Question[Answer] = Question(
        f"{_PROMPT}_small", picks_of(len(lines)), max_tokens=_CHOICE_TOKENS
    )
    picks = await judge.ask(f"{key}/picks", question, lines=listed)
    return None if picks is None else verdict_of(picks, lines)


_SCENE: Final = Question(_PROMPT, Verdict, about=("scene",), small=_pick_verdict)


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

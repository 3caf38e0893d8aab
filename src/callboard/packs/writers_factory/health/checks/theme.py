"""C2, theme resonance: how far the critical scenes test or express the theme.

A score is a model's, given with a quotation; the writer's own score replaces it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, WithJsonSchema

from callboard.choreography.answers import Answer, Quote
from callboard.core.canonical import Json, digest
from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.quotes import evidence_of, shortened
from callboard.packs.writers_factory.health.values import CheckId, HealthCheckResult, ThemeOverride
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings


class ThemeScore(Answer):
    """What a model makes of a scene, with the words it rests on."""

    score: Annotated[
        float,
        Field(ge=0, le=10),
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 10}),
    ]
    quote: Quote


@dataclass(frozen=True, slots=True)
class Resonance:
    """A critical scene with both scores; the writer's counts unless its text has changed."""

    scene: SceneView
    judged: ThemeScore | None
    override: ThemeOverride | None = None
    is_stale: bool = False

    @property
    def counted(self) -> float | None:
        """The score that counts."""
        if self.override is not None and not self.is_stale:
            return self.override.score
        return None if self.judged is None else self.judged.score

    def to_json(self) -> dict[str, Json]:
        """Return what the report shows of it."""
        return {
            "scene_id": self.scene.scene_id,
            "beat": self.scene.beat_number,
            "score": None if self.judged is None else self.judged.score,
            "quote": "" if self.judged is None else self.judged.quote,
            "override": None if self.override is None else self.override.to_json(),
            "override_is_stale": self.is_stale,
            "counted": self.counted,
        }


def check_theme(exam: Examination, scores: Mapping[str, ThemeScore]) -> HealthCheckResult:
    """Look for critical scenes that leave the theme alone; `scores` are by scene id."""
    if not exam.view.theme_statement.strip():
        return exam.no_data(CheckId.THEME, "no theme_statement is recorded")
    scenes = critical_scenes(exam)
    rows = [resonance_of(exam.view, each, scores.get(each.scene_id)) for each in scenes]
    if not rows:
        return exam.no_data(CheckId.THEME, "no accepted scene at a critical beat")
    known = [row for row in rows if row.counted is not None]
    is_partial = any(row.judged is None and row.counted is None for row in rows)
    if not known:
        return exam.no_data(CheckId.THEME, "no critical scene has a score", is_partial=is_partial)
    findings = [
        *(finding for row in known for finding in _weak(exam, row)),
        *(finding for row in rows for finding in _stale(row)),
    ]
    details: dict[str, Json] = {"scenes": [row.to_json() for row in rows]}
    return exam.result(CheckId.THEME, findings, details, is_partial=is_partial)


def critical_scenes(exam: Examination) -> tuple[SceneView, ...]:
    """Return the scenes of the scope that are scored; no other scene is."""
    return tuple(scene for scene in exam.scenes if scene.beat_number in exam.settings.theme_beats)


def resonance_of(view: ManuscriptView, scene: SceneView, judged: ThemeScore | None) -> Resonance:
    """Return a scene's scores; an override of the scene goes before one of its beat."""
    for target in (scene.scene_id, beat_target(scene.beat_number)):
        for override in view.overrides:
            if override.target == target:
                is_stale = override.content_hash != target_hash(view.scenes, target)
                return Resonance(scene, judged, override, is_stale)
    return Resonance(scene, judged)


def beat_target(number: int | None) -> str:
    """Return how the scenes of a beat are named together."""
    return f"beat:{number}"


def target_hash(scenes: Sequence[SceneView], target: str) -> str:
    """Return what the text of a scene, or of all scenes of a beat, is known by."""
    meant = [s for s in scenes if target in (s.scene_id, beat_target(s.beat_number))]
    return digest([scene.content_hash for scene in meant])


def rate_score(score: float, settings: HealthSettings) -> Severity | None:
    """Return how much it matters that a critical scene has a score."""
    if score < settings.theme_error_below:
        return Severity.ERROR
    return Severity.WARNING if score < settings.theme_warning_below else None


def _weak(exam: Examination, row: Resonance) -> Iterator[Finding]:
    severity = rate_score(row.counted or 0.0, exam.settings)
    if severity is None:
        return
    beat = exam.view.beats_by_number.get(row.scene.beat_number or 0)
    where = f"{row.scene.scene_id}" + (f" ({beat.name})" if beat else "")
    told = f"{row.counted:g} of 10"
    if row.override is not None and not row.is_stale and row.judged is not None:
        told += f" by the writer, {row.judged.score:g} by the judge"
    quote = row.judged.quote if row.judged is not None else ""
    yield Finding(
        check_id=CheckId.THEME.value,
        severity=severity,
        title=f"{where} hardly touches the theme: {told}",
        recommendation=f'Let a choice in {row.scene.scene_id} prove or refute "'
        f'{shortened(exam.view.theme_statement)}", or set your own score with a reason.',
        evidence=evidence_of(row.scene, quote),
        entities=(row.scene.scene_id,),
        rule="weak",
        scene_ids=(row.scene.scene_id,),
    )


def _stale(row: Resonance) -> Iterator[Finding]:
    if row.is_stale and row.override is not None:
        yield Finding(
            check_id=CheckId.THEME.value,
            severity=Severity.INFO,
            title=f"The writer's score {row.override.score:g} for {row.scene.scene_id} was given"
            " for another text",
            recommendation="Give it again for the text as it is now, or take it back.",
            entities=(row.scene.scene_id,),
            rule="stale_override",
            scene_ids=(row.scene.scene_id,),
        )

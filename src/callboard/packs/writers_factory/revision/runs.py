"""The runs of revision: analyze, enhance, audit and voice_report."""

from typing import Literal

import callboard.packs.writers_factory.revision.performing as performing
from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json


@choreography
async def analyze(
    stage: Stage, scene_id: str, fast: bool = False, texts: dict[str, str] | None = None
) -> Json:
    """Score a scene in five categories, or rank several texts for it; fast asks no model."""
    if texts:
        return await performing.compare(stage, scene_id, texts, is_fast=fast)
    return await performing.analyze(stage, scene_id, is_fast=fast)


@choreography
async def enhance(
    stage: Stage,
    scene_id: str,
    mode: Literal["action_prompt", "six_pass"] = "action_prompt",
    fast: bool = False,
    model: str | None = None,
) -> Json:
    """Propose changes to a scene: fixes for its issues, or six passes over all of it."""
    return await performing.enhance(stage, scene_id, mode, is_fast=fast, model=model)


@choreography
async def audit(stage: Stage, fast: bool = False, judge: bool = False) -> Json:
    """Check the continuity of the whole manuscript and write the report; fast asks no model.

    `judge` lets the judge's model read the pairs of passages that rules cannot judge.
    """
    return await performing.audit(stage, is_fast=fast, is_judged=judge and not fast)


@choreography
async def voice_report(stage: Stage) -> Json:
    """Measure every scene against the voice and write the report."""
    return await performing.report_on_voice(stage)

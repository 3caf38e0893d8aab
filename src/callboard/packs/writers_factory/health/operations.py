"""What can be done about the health of the manuscript: looked at, and set right by the writer."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from callboard.core.errors import NotFound
from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Cause, Done, start_job
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.health.records import KnownFinding
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.values import (
    ChallengeType,
    FlawChallenge,
    ThemeOverride,
)
from callboard.packs.writers_factory.model import DIRECTOR, EDITOR, SceneId, SymbolUse
from callboard.packs.writers_factory.workspace import Workspace

Name = Annotated[str, Field(min_length=1, max_length=200)]
Tension = Annotated[float, Field(ge=1, le=10, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Corrected:
    """What was set right."""

    corrected: str


@operation(who=(AGENT,), modes=(DIRECTOR, EDITOR))
async def run_health_check(
    workspace: Workspace,
    cause: Cause,
    scope: Annotated[
        str | None, Field(description="manuscript, act:1, chapter:N or scene:ID")
    ] = None,
) -> Done:
    """Check pacing, beats, timeline, flaw, cast, symbols and theme."""
    return await start_job(workspace, cause, "health", {"scope": scope}, waits=True)


@operation(undo="unmute_finding")
async def mute_finding(health: Health, finding_id: str, reason: str) -> KnownFinding:
    """Keep a finding out of the alerts, with the writer's reason."""
    return await health.mute(finding_id, reason)


@operation(undo="mute_finding")
async def unmute_finding(health: Health, finding_id: str) -> KnownFinding:
    """Let a finding be an alert again."""
    return await health.unmute(finding_id)


@operation(undo="withdraw_theme_override")
async def set_theme_override(
    health: Health, target: str, score: float, reason: str
) -> ThemeOverride:
    """Put the writer's own score in place of a judge's; it holds until the text changes."""
    return await health.override_theme(target, score, reason)


@operation(delete="/theme-overrides")
async def withdraw_theme_override(health: Health, target: Name) -> Corrected:
    """Take a theme score back, so that the judge's counts again."""
    if not await health.withdraw_override(target):
        raise NotFound(f"There is no theme score for {target!r}", fix="List them first.")
    return Corrected(target)


@operation(put="/scenes/{scene_id}/tension")
async def correct_tension(health: Health, scene_id: SceneId, tension: Tension) -> Corrected:
    """Set the tension of an accepted scene right, from 1 to 10."""
    await health.correct_tension(scene_id, tension)
    return Corrected(scene_id)


@operation()
async def correct_symbols(health: Health, scene_id: str, symbols: list[SymbolUse]) -> Corrected:
    """Set the symbols of an accepted scene right."""
    await health.correct_symbols(scene_id, symbols)
    return Corrected(scene_id)


@operation(put="/scenes/{scene_id}/challenge")
async def correct_challenge(
    workspace: Workspace,
    scene_id: SceneId,
    type: ChallengeType | None = None,  # noqa: A002 - the word of the API
    intensity: Annotated[int, Field(ge=1, le=10)] = 5,
    quote: Annotated[str, Field(max_length=2_000)] = "",
) -> Corrected:
    """Say how a scene challenges the flaw; without a type, that it does not."""
    health = Health(workspace)
    if type is None:
        await health.deny_challenge(scene_id)
    else:
        flaw = str(Bible(workspace).protagonist.get("fatal_flaw") or "")
        await health.record_challenge(FlawChallenge(scene_id, flaw, type, intensity, quote))
    return Corrected(scene_id)


@operation(put="/characters/{name}/function")
async def set_function(
    health: Health,
    name: Annotated[str, Field(max_length=200)],
    function: Name,
    note: Annotated[str, Field(max_length=500)] = "",
) -> Corrected:
    """Say what a supporting character is for."""
    await health.set_function(name, function, note)
    return Corrected(name)

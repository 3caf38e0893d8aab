"""The health of the manuscript: checks, findings, and everything the writer sets right."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, promise, started
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.doors.routes.request import (
    Name,
    SceneId,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.health import (
    HealthReport,
    KnownFinding,
    operations,
)
from callboard.packs.writers_factory.health.values import ThemeOverride
from callboard.packs.writers_factory.model import SymbolUse

router = APIRouter(prefix="/factory", tags=["factory: health"])

ReportId = Annotated[str, Path(max_length=100)]
FindingId = Annotated[str, Path(max_length=100)]
Reason = Annotated[str, Field(min_length=1, max_length=2_000)]
Score = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class CheckWanted(Wanted):
    """Which part of the manuscript is looked at, and by which checks."""

    scope: Annotated[str, Field(max_length=60)] = "manuscript"
    checks: list[Name] = Field(default_factory=list[str], max_length=7)
    session_id: SessionId = None


ReportShape = promise(
    "ReportShape",
    "The seven checks over one scope at one time.",
    HealthReport,
    without_data=list[str],
    checks=list[Entry],
    summary=str,
)


class FindingShape(Shown):
    """A finding under its one identity, and what became of it."""

    id: str
    state: str
    is_alert: bool
    muted_because: str
    finding: Entry


class MuteWanted(Wanted):
    """Why it is meant to be so."""

    reason: Reason


class OverrideWanted(Wanted):
    """The writer's own score for a scene or a beat, such as `ch4-sc2` or `beat:9`."""

    target: Name
    score: Score
    reason: Reason


OverrideShape = promise(
    "OverrideShape",
    "A theme score of the writer.",
    ThemeOverride,
)


class SymbolWanted(Wanted):
    """A symbol, and what it does in a scene."""

    name: Name
    stage: Literal["", "introduction", "development", "transformation"] = ""


class SymbolsWanted(Wanted):
    """Every symbol of a scene."""

    symbols: list[SymbolWanted] = Field(max_length=100)


@router.post("/health-checks", status_code=202)
async def start_check(factory: WritersFactory, wanted: CheckWanted | None = None) -> StartedJob:
    """Look at the health of the manuscript; the report has the id of the run."""
    chosen = wanted or CheckWanted()
    args = chosen.model_dump(exclude={"session_id"})
    run = await factory.start("health", args, session_id=chosen.session_id)
    return started(run)


@router.get("/health-checks", response_model=list[ReportShape])
async def list_reports(factory: WritersFactory, page: Paged) -> list[Entry]:
    """List the reports, newest first."""
    return [each.to_json() for each in page.cut(factory.rooms.health.reports())]


@router.get("/health-checks/latest", response_model=ReportShape)
async def show_latest(factory: WritersFactory) -> Entry:
    """Show the newest report."""
    found = factory.rooms.health.latest()
    if found is None:
        raise NotFound("There is no health report yet", fix="Start a health check.")
    return found.to_json()


@router.get("/health-checks/{report_id}", response_model=ReportShape)
async def show_report(factory: WritersFactory, report_id: ReportId) -> Entry:
    """Show one report."""
    return factory.rooms.health.report(report_id).to_json()


@router.get("/findings")
async def list_findings(
    factory: WritersFactory,
    page: Paged,
    only_alerts: Annotated[bool, Query(description="Only what the Foreman is told of.")] = False,
) -> list[FindingShape]:
    """List the findings, worst first, also those that are fixed or muted."""
    found = [each for each in factory.rooms.health.findings() if each.is_alert or not only_alerts]
    return [_finding(each) for each in page.cut(found)]


@router.post("/findings/{finding_id}/mute")
async def mute(factory: WritersFactory, finding_id: FindingId, wanted: MuteWanted) -> FindingShape:
    """Keep a finding out of the alerts, with a reason."""
    return _finding(await factory.perform(operations.mute_finding, finding_id, wanted.reason))


@router.post("/findings/{finding_id}/unmute")
async def unmute(factory: WritersFactory, finding_id: FindingId) -> FindingShape:
    """Let a finding be an alert again."""
    return _finding(await factory.perform(operations.unmute_finding, finding_id))


@router.get("/theme-overrides", response_model=list[OverrideShape])
async def list_overrides(factory: WritersFactory, page: Paged) -> list[Entry]:
    """List the writer's own theme scores."""
    return [each.to_json() for each in page.cut(factory.rooms.health.theme_overrides())]


@router.put("/theme-overrides", response_model=OverrideShape)
async def override_theme(factory: WritersFactory, wanted: OverrideWanted) -> Entry:
    """Put the writer's own score in place of a judge's; it holds until the text changes."""
    made = await factory.perform(
        operations.set_theme_override, wanted.target, wanted.score, wanted.reason
    )
    return made.to_json()


@router.put("/scenes/{scene_id}/symbols")
async def correct_symbols(
    factory: WritersFactory, scene_id: SceneId, wanted: SymbolsWanted
) -> operations.Corrected:
    """Set the symbols of an accepted scene right."""
    uses = [SymbolUse(each.name, each.stage) for each in wanted.symbols]
    return await factory.perform(operations.correct_symbols, scene_id, uses)


def _finding(known: KnownFinding) -> FindingShape:
    return FindingShape.model_validate(
        {**known.to_json(), "id": known.id, "is_alert": known.is_alert}
    )

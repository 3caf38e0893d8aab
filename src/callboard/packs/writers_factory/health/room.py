"""The room: reports, alerts, and everything the writer may correct. Asks no model.

What the writer sets right is looked at again at once, with what models have said before.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from callboard.choreography.questions import Answers
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.health.building import build_view
from callboard.packs.writers_factory.health.checks.flaw import challenge_gap, is_known
from callboard.packs.writers_factory.health.checks.theme import (
    beat_target,
    critical_scenes,
    target_hash,
)
from callboard.packs.writers_factory.health.evaluation import Known, evaluate, stats_of
from callboard.packs.writers_factory.health.examination import Examination, overall_of
from callboard.packs.writers_factory.health.questions import known_scores
from callboard.packs.writers_factory.health.quotes import evidence_of
from callboard.packs.writers_factory.health.records import (
    REPORT_KIND,
    FindingLedger,
    HealthRecords,
    KnownFinding,
    Look,
)
from callboard.packs.writers_factory.health.values import (
    Alert,
    CastFunction,
    CheckId,
    FlawChallenge,
    HealthCheckResult,
    HealthReport,
    SymbolStage,
    ThemeOverride,
)
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.model import JUDGE, PACK, SymbolUse
from callboard.packs.writers_factory.workspace import Workspace, model_of
from callboard.store.connection import Connection

_LEAST: Final = 1
_MOST: Final = 10


class Health:
    """What is known about the state of the manuscript."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project; reads nothing yet."""
        self._workspace = workspace
        self._kept = HealthRecords(workspace)
        self._ledger = FindingLedger(workspace.records)

    # What there is to see

    def view(self) -> ManuscriptView:
        """Read the manuscript as the checks see it."""
        return build_view(self._workspace)

    def reports(self) -> tuple[HealthReport, ...]:
        """Return every report, newest first."""
        stored = self._workspace.records.all(REPORT_KIND).values()
        return tuple(HealthReport.from_json(body) for body in reversed(stored))

    def report(self, report_id: str) -> HealthReport:
        """Return one report."""
        body = self._workspace.records.get(REPORT_KIND, report_id)
        if body is None:
            raise NotFound(
                f"There is no health report {report_id!r}",
                fix="List the reports, or run a health check first.",
                report_id=report_id,
            )
        return HealthReport.from_json(body)

    def latest(self) -> HealthReport | None:
        """Return the newest report, if there is one."""
        return next(iter(self.reports()), None)

    def findings(self) -> tuple[KnownFinding, ...]:
        """Return every finding with its state: open, fixed, muted."""
        return self._ledger.all()

    def open_alerts(self, limit: int | None = None) -> tuple[Alert, ...]:
        """Return the open findings, worst first and no more than a prompt wants."""
        return self._ledger.alerts(
            self._workspace.settings.health.alerts if limit is None else limit
        )

    def challenges(self) -> tuple[FlawChallenge, ...]:
        """Return the challenges to the flaw in story order, the writer's word first."""
        return tuple(s.challenge for s in self.view().scenes if s.challenge is not None)

    def flaw_gap(self) -> int:
        """Return how many scenes have passed since the flaw was last challenged."""
        return challenge_gap([scene for scene in self.view().scenes if is_known(scene)])

    # What the writer may set right

    async def mute(self, finding_id: str, reason: str) -> KnownFinding:
        """Keep a finding out of the alerts, with the writer's reason."""
        return await self._ledger.mute(finding_id, reason)

    async def unmute(self, finding_id: str) -> KnownFinding:
        """Let a finding be an alert again."""
        return await self._ledger.unmute(finding_id)

    async def override_theme(
        self, target: str, score: float, reason: str, *, author: str = "writer"
    ) -> ThemeOverride:
        """Put the writer's own score in place of a judge's, for `ch4-sc2` or `beat:9`."""
        if not 0 <= score <= _MOST or not reason.strip():
            raise InvalidInput(
                f"{score!r} with the reason {reason!r} is no theme score",
                fix="Give a score from 0 to 10 and say why.",
                score=score,
            )
        scenes = self.view().scenes
        name = target.strip().casefold()
        if not any(name in (s.scene_id, beat_target(s.beat_number)) for s in scenes):
            known = ", ".join(scene.scene_id for scene in scenes) or "none yet"
            raise NotFound(
                f"{target!r} is no accepted scene and no written beat",
                fix=f"Name a scene ({known}) or a beat such as beat:9.",
                target=target,
            )
        now = self._workspace.studio.clock.now_ms()
        override = ThemeOverride(
            name, float(score), reason.strip(), author, now, target_hash(scenes, name)
        )
        await self._kept.keep_override(override)
        await self.refresh((CheckId.THEME,))
        return override

    def theme_overrides(self) -> tuple[ThemeOverride, ...]:
        """Return the writer's own theme scores."""
        return self._kept.overrides()

    async def withdraw_override(self, target: str) -> bool:
        """Take a theme score back; say whether there was one."""
        was_there = await self._kept.drop_override(target.strip().casefold())
        await self.refresh((CheckId.THEME,))
        return was_there

    async def record_challenge(self, challenge: FlawChallenge) -> None:
        """Keep the writer's word that a scene challenges the flaw."""
        scene = self._accepted(challenge.scene_id)
        if challenge.quote and not evidence_of(scene, challenge.quote):
            raise InvalidInput(
                f"{challenge.scene_id} does not hold the words {challenge.quote!r}",
                fix="Copy the words from the scene, or leave the quotation out.",
            )
        if not _LEAST <= challenge.intensity <= _MOST:
            raise InvalidInput(
                f"An intensity of {challenge.intensity} is not known", fix="Give 1 to 10."
            )
        await self._kept.keep_challenge(challenge.scene_id, challenge)
        await self.refresh((CheckId.FLAW,))

    async def deny_challenge(self, scene_id: str) -> None:
        """Keep the writer's word that a scene leaves the flaw alone."""
        await self._kept.keep_challenge(self._accepted(scene_id).scene_id, None)
        await self.refresh((CheckId.FLAW,))

    async def correct_tension(self, scene_id: str, tension: float) -> None:
        """Put the writer's own tension in place of a judge's."""
        if not _LEAST <= tension <= _MOST:
            raise InvalidInput(f"A tension of {tension!r} is not known", fix="Give 1 to 10.")
        scene = self._accepted(scene_id)
        await self._kept.keep_correction(scene.scene_id, tension=float(tension))
        await Manuscript(self._workspace).set_meta(scene.scene_id, tension=float(tension))
        await self.refresh((CheckId.PACING,))

    async def correct_symbols(self, scene_id: str, symbols: Sequence[SymbolUse]) -> None:
        """Put the writer's own tags in place of a judge's."""
        stages = {"", *(stage.value for stage in SymbolStage)}
        bad = [use.stage for use in symbols if use.stage not in stages or not use.name.strip()]
        if bad:
            raise InvalidInput(
                f"{bad[0]!r} is no stage of a symbol",
                fix=f"Give a name and one of {', '.join(sorted(stages - {''}))}.",
            )
        scene = self._accepted(scene_id)
        rows: list[Json] = [{"name": use.name, "stage": use.stage} for use in symbols]
        await self._kept.keep_correction(scene.scene_id, symbols=rows)
        await self.refresh((CheckId.SYMBOLS,))

    async def set_function(self, character: str, function: str, note: str = "") -> None:
        """Say what a supporting character is for; `other` with a note of your own."""
        known = [each.value for each in CastFunction]
        word = function.strip().casefold().replace(" ", "_")
        if word not in known or (word == CastFunction.OTHER.value and not note.strip()):
            raise InvalidInput(
                f"{function!r} is no function of a character",
                fix=f"Take one of {', '.join(known)}; other needs a note.",
            )
        await self._kept.keep_function(character.strip(), word, note.strip())
        await self.refresh((CheckId.CAST,))

    # What runs write

    async def refresh(self, checks: Iterable[CheckId]) -> None:
        """Look again, with what models have said before; there is nothing to refresh before a run.

        The timeline is left to runs: it rests on more than one text.
        """
        latest = self.latest()
        if latest is None:
            return
        exam = Examination(self.view(), self._workspace.settings.health)
        wanted = [check for check in checks if check is not CheckId.TIMELINE]
        scores = known_scores(
            Answers(self._workspace.studio, PACK),
            model_of(self._workspace, JUDGE),
            critical_scenes(exam),
            exam.view.theme_statement,
        )
        results = tuple(evaluate(exam, wanted, Known(theme=scores)))
        look = Look(latest.id, results, exam.scope.is_whole, exam.inside)
        now = self._workspace.studio.clock.now_ms()
        await self._workspace.studio.database.write(
            lambda connection: self._ledger.enter(connection, look, now)
        )

    async def file(
        self, report_id: str, exam: Examination, results: Sequence[HealthCheckResult]
    ) -> HealthReport:
        """Store a report and what it means for the findings, in one go."""
        now = self._workspace.studio.clock.now_ms()
        report = HealthReport(
            id=report_id,
            project_id=Bible(self._workspace).project().id,
            scope=str(exam.scope),
            created_at=now,
            overall_score=overall_of(results),
            checks=tuple(results),
            stats=stats_of(exam.view),
        )
        look = Look(report_id, results, exam.scope.is_whole, exam.inside)

        def work(connection: Connection) -> None:
            self._workspace.records.store(connection, REPORT_KIND, report_id, report.to_json())
            self._ledger.enter(connection, look, now)

        await self._workspace.studio.database.write(work)
        return report

    def _accepted(self, scene_id: str) -> SceneView:
        found = self.view().by_id.get(scene_id.strip().casefold())
        if found is None:
            raise NotFound(
                f"There is no accepted scene {scene_id!r}",
                fix="Accept the scene first, or name one such as ch4-sc2.",
                scene_id=scene_id,
            )
        return found

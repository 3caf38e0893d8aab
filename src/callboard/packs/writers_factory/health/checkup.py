"""Checkup: one health run. Asks what is not known yet, then lets the rules speak.

Whatever a model has said is kept at once, so that a run that was killed, and every later run on
the same text, pays for nothing again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from callboard.choreography.questions import Judge
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.health.building import build_view
from callboard.packs.writers_factory.health.checks.theme import ThemeScore, critical_scenes
from callboard.packs.writers_factory.health.checks.timeline import TimelineReading, candidate_key
from callboard.packs.writers_factory.health.evaluation import Known, evaluate
from callboard.packs.writers_factory.health.examination import Examination, HealthScope
from callboard.packs.writers_factory.health.questions import (
    judge_pair,
    judge_scene_text,
    named_symbols,
    read_facts,
    score_theme,
)
from callboard.packs.writers_factory.health.records import HealthRecords, SceneJudgement, symbols_of
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.timeline.candidates import (
    TimelineCandidate,
    find_candidates,
)
from callboard.packs.writers_factory.health.timeline.continuity import (
    Contradiction,
    contradictions_in,
)
from callboard.packs.writers_factory.health.timeline.facts import (
    Pair,
    PairVerdict,
    SceneFacts,
    further_pairs,
    read_scene,
)
from callboard.packs.writers_factory.health.timeline.statements import read_losses
from callboard.packs.writers_factory.health.values import CheckId, HealthCheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.manuscript import Manuscript, parse_scene_id
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.workspace import Workspace, judge_on

T = TypeVar("T")

_ON_SCENES: Final = frozenset({CheckId.PACING, CheckId.FLAW, CheckId.SYMBOLS})


async def judge_scene(stage: Stage, key: str, scene_id: str) -> SceneJudgement:
    """Judge an accepted scene once for its text, and keep what was said.

    The writer's own tension, symbols and word on the flaw replace the judge's in what is returned.
    """
    workspace = Workspace(stage.studio)
    view = build_view(workspace)
    scene = view.by_id.get(scene_id)
    if scene is None:
        raise NotFound(
            f"There is no accepted scene {scene_id!r}",
            fix="Accept it before it is judged.",
            scene_id=scene_id,
        )
    found = await _judge(judge_on(stage), key, view, scene)
    return _set_right(HealthRecords(workspace), found)


class Checkup:
    """A health run while it goes on."""

    def __init__(self, stage: Stage, scope: HealthScope, checks: Sequence[CheckId]) -> None:
        """Take the stage, and what is to be looked at."""
        self._stage = stage
        self._scope = scope
        self._checks = checks
        self._workspace = Workspace(stage.studio)
        self._shared = judge_on(stage)
        self._limit = self._workspace.settings.project.concurrency

    async def perform(self) -> Json:
        """Look at everything and return the report."""
        exam = self._exam()
        if _ON_SCENES & set(self._checks):
            await self._judge_scenes(exam)
            exam = self._exam()
        timeline = TimelineReading(is_partial=True)
        if CheckId.TIMELINE in self._checks:
            timeline = await self._read_timeline(exam)
        theme: dict[str, ThemeScore] = {}
        if CheckId.THEME in self._checks:
            theme = await self._score_theme(exam)
        results: list[HealthCheckResult] = []
        for result in evaluate(exam, self._checks, Known(timeline, theme)):
            results.append(result)
            await self._tell(result)

        async def file() -> Json:
            report = await Health(self._workspace).file(self._stage.run.id, exam, results)
            return report.to_json()

        # The id of the run is the id of its report: filed again, it is the same report.
        return await keep_in_run(self._stage, "filed", "health report", file)

    def _exam(self) -> Examination:
        return Examination(
            build_view(self._workspace), self._workspace.settings.health, self._scope
        )

    async def _judge_scenes(self, exam: Examination) -> None:
        unknown = [scene for scene in exam.scenes if self._needs_judging(exam.view, scene)]

        async def judge(asker: Judge, scene: SceneView) -> SceneJudgement:
            return await _judge(asker, "judge", exam.view, scene)

        await self._each("scenes", unknown, judge)

    def _needs_judging(self, view: ManuscriptView, scene: SceneView) -> bool:
        if CheckId.PACING in self._checks and scene.tension is None:
            return True
        if CheckId.FLAW in self._checks and view.flaw and not scene.is_judged:
            return True
        tagged = {use.name.casefold() for use in scene.symbols}
        named = named_symbols(view, scene) if CheckId.SYMBOLS in self._checks else ()
        untagged = [s for s in named if not {n.casefold() for n in s.names} & tagged]
        return bool(untagged) and not scene.is_judged

    async def _read_timeline(self, exam: Examination) -> TimelineReading:
        view = exam.view
        things = [loss.thing for loss in read_losses(view)]
        facts = {scene.scene_id: read_scene(view, scene, things) for scene in view.scenes}

        async def extract(asker: Judge, scene: SceneView) -> SceneFacts | None:
            return await read_facts(asker, "facts", view, scene)

        # Scenes outside the scope cost nothing: code has read them.
        told = await self._each("facts", exam.scenes, extract)
        for scene_id, read in told.items():
            if read is not None:
                facts[scene_id] = read.joined(facts[scene_id])
        is_partial = any(read is None for read in told.values())
        candidates = find_candidates(view, facts)
        on_candidates = await self._judge_candidates(exam, candidates)
        taken = [candidate.pair for candidate in candidates]
        most = exam.settings.scene_pairs
        pairs = further_pairs(view, facts, exam.inside, most, taken)
        on_pairs = await self._judge_pairs(view, pairs)
        is_partial = is_partial or None in on_pairs.values() or None in on_candidates.values()
        contradictions = await self._contradictions(view)
        return TimelineReading(
            facts,
            {key: verdict for key, verdict in on_candidates.items() if verdict is not None},
            {pair: verdict for pair, verdict in on_pairs.items() if verdict is not None},
            contradictions,
            is_partial,
        )

    async def _contradictions(self, view: ManuscriptView) -> tuple[Contradiction, ...]:
        """Have the story tools read the accepted scenes; a book is read apart from the loop."""
        book = Manuscript(self._workspace)
        paths = {book.path(scene.scene_id): scene.scene_id for scene in view.scenes}

        def look() -> Json:
            return [each.to_json() for each in contradictions_in(self._stage.studio, paths)]

        found = await self._stage.step("continuity", lambda: asyncio.to_thread(look))
        return tuple(Contradiction.from_json(each) for each in cast("list[Any]", found))

    async def _judge_candidates(
        self, exam: Examination, candidates: Iterable[TimelineCandidate]
    ) -> dict[str, PairVerdict | None]:
        concerned = [each for each in candidates if not exam.inside.isdisjoint(each.pair)]
        branches: dict[str, Callable[[Judge], Awaitable[PairVerdict | None]]] = {}
        for each in concerned:

            def ask(asker: Judge, each: TimelineCandidate = each) -> Awaitable[PairVerdict | None]:
                return judge_pair(asker, "verdict", exam.view, each.pair, each.title)

            branches[candidate_key(each)] = ask
        return await self._branches("suspicion", branches)

    async def _judge_pairs(
        self, view: ManuscriptView, pairs: Sequence[Pair]
    ) -> dict[Pair, PairVerdict | None]:
        branches: dict[str, Callable[[Judge], Awaitable[PairVerdict | None]]] = {}
        for pair in pairs:

            def ask(asker: Judge, pair: Pair = pair) -> Awaitable[PairVerdict | None]:
                return judge_pair(asker, "verdict", view, pair)

            branches["+".join(pair)] = ask
        found = await self._branches("pair", branches)
        return {pair: found["+".join(pair)] for pair in pairs}

    async def _score_theme(self, exam: Examination) -> dict[str, ThemeScore]:
        statement = exam.view.theme_statement
        if not statement:
            return {}

        async def score(asker: Judge, scene: SceneView) -> ThemeScore | None:
            return await score_theme(asker, "theme", scene, statement)

        found = await self._each("theme", critical_scenes(exam), score)
        return {scene_id: each for scene_id, each in found.items() if each is not None}

    async def _each(
        self,
        name: str,
        scenes: Sequence[SceneView],
        ask: Callable[[Judge, SceneView], Awaitable[T]],
    ) -> dict[str, T]:
        """Ask about every scene, several at once, and return the answers by scene id."""
        branches: dict[str, Callable[[Judge], Awaitable[T]]] = {}
        for scene in scenes:

            def of_scene(asker: Judge, scene: SceneView = scene) -> Awaitable[T]:
                return ask(asker, scene)

            branches[scene.scene_id] = of_scene
        return await self._branches(name, branches)

    async def _branches(
        self, name: str, branches: dict[str, Callable[[Judge], Awaitable[T]]]
    ) -> dict[str, T]:
        # Keys of steps are paths; what people are called is not to make paths.
        places = {key: f"{name}-{_place(key)}" for key in branches}

        def staged(ask: Callable[[Judge], Awaitable[T]]) -> Callable[[Stage], Awaitable[T]]:
            return lambda stage: ask(self._shared.on(stage))

        if branches:
            await self._stage.emit("health.asking", {"what": name, "questions": len(branches)})
        found = await self._stage.parallel(
            {places[key]: staged(ask) for key, ask in branches.items()}, limit=self._limit
        )
        return {key: found[place] for key, place in places.items()}

    async def _tell(self, result: HealthCheckResult) -> None:
        await self._stage.emit(
            "health.check",
            {
                "check": result.check_id,
                "status": result.status.value,
                "score": result.score,
                "findings": len(result.findings),
                "partial": result.is_partial,
            },
        )


async def _judge(asker: Judge, key: str, view: ManuscriptView, scene: SceneView) -> SceneJudgement:
    """Judge a scene and keep what it does beside its text."""
    found = await judge_scene_text(asker, key, view, scene)
    if not found.is_judged:
        return found

    async def keep() -> Json:
        await HealthRecords(Workspace(asker.stage.studio)).keep_judgement(
            found, scene.content_hash, view.flaw
        )

    place = f"{key}/kept/{scene.content_hash[:12]}"
    await keep_in_run(asker.stage, place, "judgement of a scene", keep, of=found.scene_id)
    return found


def _set_right(kept: HealthRecords, found: SceneJudgement) -> SceneJudgement:
    """Return a judgement with what the writer says in place of the judge."""
    right: dict[str, Any] = kept.corrections().get(found.scene_id, {})
    challenges = kept.writer_challenges()
    return replace(
        found,
        tension=cast("float | None", right.get("tension", found.tension)),
        symbols=symbols_of(right["symbols"]) if "symbols" in right else found.symbols,
        challenge=challenges.get(found.scene_id, found.challenge),
    )


def _place(key: str) -> str:
    return key if parse_scene_id(key) else digest(key)[:12]

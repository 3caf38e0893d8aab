"""The contest: every model writes the same passage by every strategy, and every passage is judged.

One durable run. What was written or judged is journaled, so a run that was killed goes on where it
stood and pays for nothing twice. It keeps no time: how long a call may take is the gate's to say.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, cast

from callboard.choreography.questions import Judge
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput
from callboard.engine.run import Run
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.prose import base_sheet
from callboard.packs.writers_factory.voice.state import VoiceRecord
from callboard.packs.writers_factory.voice.strategies import (
    TOURNAMENT_STRATEGIES,
    canonical_strategy,
)
from callboard.packs.writers_factory.voice.tournament.contestants import (
    check_contestants,
    default_judge,
    default_writer,
    judge_for,
)
from callboard.packs.writers_factory.voice.tournament.judging import judge_passage
from callboard.packs.writers_factory.voice.tournament.scoring import Scored
from callboard.packs.writers_factory.voice.tournament.tournaments import (
    LEAST_USABLE,
    Tournament,
    Tournaments,
    TournamentState,
    planned_variants,
    tournament_id_of,
)
from callboard.packs.writers_factory.voice.tournament.variants import Variant, VariantState
from callboard.packs.writers_factory.voice.tournament.writing import PassageOrder, write_passage
from callboard.packs.writers_factory.workspace import Workspace, is_small, judge_on
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

PROGRESS: Final = "tournament.progress"
UNUSABLE: Final = "tournament.unusable"
_PARAMETERS: Final = {
    "test_prompt": "str, required: what the passage is to tell",
    "agents": "list of model ids, default: the model that writes prose",
    "strategies": "list of strategies, default: " + ", ".join(TOURNAMENT_STRATEGIES),
    "context": "str, default: genre and tone of the book",
    "seed": "str, default: the tournament's own; decides the order of presentation",
}
_MOST_VARIANTS: Final = 60


class NotEnoughVariants(CallboardError):
    """Fewer passages came out of a tournament than a choice needs."""

    code = "not_enough_variants"


class TournamentRun:
    """The choreography of a tournament."""

    summary = "Have several models write one passage by several strategies, and score the results."

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check what is asked for, and who can take part at all."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        prompt = str(raw.get("test_prompt") or "").strip()
        if unknown or not prompt:
            told = f"unknown: {', '.join(unknown)}" if unknown else "test_prompt is missing"
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(f"A tournament cannot start: {told}", fix=f"It takes: {takes}.")
        workspace = Workspace(studio)
        agents = _listed(raw.get("agents")) or [default_writer(workspace)]
        given = _listed(raw.get("strategies")) or list(TOURNAMENT_STRATEGIES)
        strategies = list(dict.fromkeys(canonical_strategy(each) for each in given))
        found = check_contestants(workspace, agents)
        usable = [each.model for each in found if each.is_usable]
        _require_enough(len(usable) * len(strategies), len(found) * len(strategies))
        args: dict[str, Json] = {
            "test_prompt": prompt,
            "agents": [each.model for each in found],
            "strategies": strategies,
            "context": str(raw.get("context") or "").strip() or _known(workspace),
            "seed": str(raw.get("seed") or ""),
            "unusable": {e.model: f"{e.problem} {e.fix}".strip() for e in found if e.problem},
            "judge": default_judge(workspace),
            # Frozen here: a setting changed meanwhile must not change a run that goes on.
            "lengths": _lengths(workspace),
        }
        return Prepared(args, title=f"Voice tournament: {prompt}"[:80])

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Hold the tournament."""
        return await _Contest(Stage(studio, run)).hold()


class _Contest:
    """A tournament while it is held."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workspace = Workspace(stage.studio)
        self.shelf = Tournaments(self.workspace)
        self.args: dict[str, Any] = stage.run.args
        self.variants = planned_variants(self.args["agents"], self.args["strategies"])
        self.usable = [each for each in self.args["agents"] if each not in self.args["unusable"]]
        self.judges: dict[str, Judge] = {}
        self.done = 0

    async def hold(self) -> Json:
        tournament_id = str(await keep_in_run(self.stage, "opened", "tournament", self.open))
        for model, why in self.args["unusable"].items():
            await self.stage.emit(UNUSABLE, {"model": model, "why": why})

        def entry(variant: Variant) -> Callable[[Stage], Awaitable[Variant]]:
            return lambda stage: self.take_part(stage, variant, tournament_id)

        branches = {f"v{n:02d}": entry(each) for n, each in enumerate(self.variants, start=1)}
        limit = self.workspace.settings.project.concurrency
        outcomes = await self.stage.collect(branches, limit=limit)
        ended = [each.value for each in outcomes.values() if each.value is not None]
        usable = [each for each in ended if each.is_usable]
        return await self.close(tournament_id, len(usable))

    async def open(self) -> str:
        """Store the tournament; the run's id makes the tournament's."""
        run = self.stage.run
        tournament = Tournament(
            id=tournament_id_of(run.id),
            run_id=run.id,
            test_prompt=self.args["test_prompt"],
            context=self.args["context"],
            agents=tuple(self.args["agents"]),
            strategies=tuple(self.args["strategies"]),
            state=TournamentState.RUNNING,
            variants=self.variants,
            unusable=self.args["unusable"],
            seed=self.args["seed"],
            created_at=self.stage.studio.clock.now_ms(),
        )
        await self.shelf.open(tournament)
        await VoiceRecord(self.workspace).note_test_passage(tournament.test_prompt, tournament.id)
        return tournament.id

    async def take_part(self, stage: Stage, variant: Variant, tournament_id: str) -> Variant:
        """Have one variant written and judged; whatever goes wrong is its own affair."""
        try:
            ended = await self.make(stage, variant)
        except CallboardError as error:
            ended = variant.failed(error.message)
        shape = ended.to_json()

        async def keep() -> Json:
            await self.shelf.keep(tournament_id, ended)
            return ended.state.value

        await keep_in_run(stage, "kept", "passage", keep, of=ended.id)
        self.done += 1
        await stage.emit(
            PROGRESS,
            {
                "tournament_id": tournament_id,
                "done": self.done,
                "total": len(self.variants),
                "state": shape["state"],
                "error": ended.error,
            },
        )
        return ended

    async def make(self, stage: Stage, variant: Variant) -> Variant:
        if variant.agent not in self.usable:
            return variant.failed(str(self.args["unusable"][variant.agent]))
        order = self.order(variant)
        passage = await write_passage(stage, order)
        if not passage.words:
            return variant.failed("the model wrote nothing")
        brief = f"{order.test_prompt}\n\n{order.context}"
        scored = Scored(passage.text, brief, base_sheet())
        judge = judge_for(variant.agent, self.args["judge"], self.usable)
        # Shared by all branches: what cannot be reached for one passage is not tried for each.
        asked = self.judges.setdefault(judge, judge_on(self.stage, judge)).on(stage)
        scores = await judge_passage(
            asked, scored, test_prompt=order.test_prompt, context=order.context
        )
        flags = (*passage.flags, *(("judged by its author",) if judge == variant.agent else ()))
        return replace(
            variant,
            state=VariantState.USABLE,
            text=passage.text,
            words=passage.words,
            flags=flags,
            scores=scores,
            hits=tuple(asdict(hit) for hit in scored.hits),
            metrics=scored.metrics,
            judge=judge,
        )

    def order(self, variant: Variant) -> PassageOrder:
        small = is_small(self.workspace, variant.agent)
        lengths = self.args["lengths"]["small" if small else "usual"]
        return PassageOrder(
            model=variant.agent,
            strategy=variant.strategy,
            test_prompt=self.args["test_prompt"],
            context=self.args["context"],
            words=lengths[0],
            least=lengths[1],
            most=lengths[2],
            is_small=small,
        )

    async def close(self, tournament_id: str, usable: int) -> Json:
        is_ready = usable >= LEAST_USABLE
        state = TournamentState.READY if is_ready else TournamentState.FAILED
        why = "" if is_ready else f"only {usable} of {len(self.variants)} passages can be used"

        async def settle() -> Json:
            await self.shelf.mark(tournament_id, state=state, error=why)
            return None

        await keep_in_run(self.stage, "settled", "tournament", settle, of=tournament_id)
        if not is_ready:
            raise NotEnoughVariants(
                f"Tournament {tournament_id} is over: {why}",
                fix="See why each variant failed, name other agents, and start a new one.",
                tournament=tournament_id,
            )
        return {
            "tournament_id": tournament_id,
            "state": state.value,
            "usable": usable,
            "failed": len(self.variants) - usable,
            "unusable": self.args["unusable"],
        }


def _listed(value: Json) -> list[str]:
    """Return the names in a list, or in a text that separates them by commas."""
    given = value.split(",") if isinstance(value, str) else (value or [])
    return [str(each).strip() for each in cast("list[Any]", given) if str(each).strip()]


def _lengths(workspace: Workspace) -> dict[str, Json]:
    voice = workspace.settings.voice
    return {
        "usual": [voice.passage_words, voice.passage_words_least, voice.passage_words_most],
        "small": [
            voice.small_passage_words,
            voice.small_passage_words_least,
            voice.small_passage_words_most,
        ],
    }


def _known(workspace: Workspace) -> str:
    facts = Bible(workspace).project()
    told = {"Title": facts.title, "Genre": facts.genre, "Tone": facts.tone}
    return "\n".join(f"{name}: {value}" for name, value in told.items() if value)


def _require_enough(usable: int, planned: int) -> None:
    if planned > _MOST_VARIANTS:
        raise InvalidInput(
            f"{planned} variants are too many", fix=f"Name fewer; {_MOST_VARIANTS} is the most."
        )
    if usable < LEAST_USABLE:
        raise InvalidInput(
            f"A tournament needs at least {LEAST_USABLE} variants, and {usable} of {planned} can"
            " be written",
            fix="Name more agents or strategies, or give the agents their keys.",
        )

"""What is done around the steps of a loop: skipped, adopted, put aside and begun, all on record."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from callboard.choreography.loop.board import Standing
from callboard.choreography.loop.casting import LoopPlay
from callboard.choreography.loop.decisions import StepDecision
from callboard.choreography.loop.definition import LoopStep
from callboard.choreography.loop.ports import OpenedUnit, StepView, StoredArtifact
from callboard.choreography.loop.speaking import tell
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect, StepKind
from callboard.engine.scope import StepScope


class Upkeep:
    """Keeps the board of one running loop in order."""

    def __init__(self, play: LoopPlay) -> None:
        """Take what the run shares."""
        self._play = play
        # Conditions that hold, by step and what it would read: looked at once.
        self._holding: dict[str, dict[str, str]] = {}

    async def settle_skips(self, number: int) -> None:
        """Leave out what does not apply: a condition that does not hold, roles that sleep."""
        for step in self._play.loop.steps:
            if self._play.board.standing(step) is not Standing.PENDING:
                continue
            why = self._asleep(step) or await self._inapplicable(number, step)
            if why:
                await self._note(f"{number}/{step.id}/skipped", step, Standing.SKIPPED, why)
                self._play.board.settle(step, Standing.SKIPPED, why=why)

    def _asleep(self, step: LoopStep) -> str:
        """Say who is missing for a step, and leave a tag on the unit for each."""
        play = self._play
        asleep = [role for role in step.roles if role not in play.awake]
        if not asleep:
            return ""
        roster = {each.id: each for each in play.house.cast.roster()}
        there = len(step.roles) - len(asleep)
        tags = [roster[role].deferral for role in asleep if role in roster]
        if there >= (step.least_roles or 1):
            return ""
        play.board.deferrals += [t for t in tags if t and t not in play.board.deferrals]
        return f"asleep: {', '.join(asleep)}"

    async def _inapplicable(self, number: int, step: LoopStep) -> str:
        play = self._play
        if step.required is True:
            return ""
        if play.board.is_impossible(step):
            return "what it needs is not made in this unit"
        hashes = play.board.hashes_of(step)
        is_known = self._holding.get(step.id) == hashes
        if step.condition is None or is_known or play.board.lacks(step):
            return ""

        async def act(scope: StepScope) -> Json:
            view = StepView(
                play.stage,
                scope,
                play.loop,
                step,
                play.unit,
                dict(play.board.artifacts),
                play.awake,
                play.house.workspace,
            )
            return await play.house.checks.holds(str(step.condition), view)

        key = f"{number}/{step.id}/applies"
        holds = await play.stage.run.step(key, act, inputs=hashes, effect=Effect.IDEMPOTENT)
        if holds:
            self._holding[step.id] = hashes
            return ""
        return f"{step.condition} does not hold"

    async def begin(self, key: str, step: LoopStep, roles: tuple[str, ...]) -> None:
        """Tell that a step begins, and wake who does it."""
        play = self._play
        woken = [role for role in roles if play.sessions.wake(role)]

        async def act(scope: StepScope) -> Json:
            for role in woken:
                tell(play.stage, scope, "role.woken", {"role": role})
            told = {"step": step.id, "roles": list(roles), "status": Standing.RUNNING.value}
            tell(play.stage, scope, "step.started", {**told, "steps": play.board.steps()})
            return None

        await play.stage.run.step(f"{key}/begin", act, inputs=list(roles), effect=Effect.PURE)

    async def adopt_known(self, opened: OpenedUnit, *, is_continued: bool) -> None:
        """Take over what earlier runs of the same unit made, as far as it still holds."""
        if not is_continued:
            return
        board = self._play.board
        for step in self._play.loop.flow:
            if step.gate or not board.can_adopt(step, opened.made):
                continue
            if not any(each.target_step == step.id for each in board.musts()):
                await self.adopt(f"adopt/{step.id}", step, opened.made)

    async def adopt(self, key: str, step: LoopStep, made: Mapping[str, StoredArtifact]) -> None:
        """Take over what exists in place of doing a step."""
        taken = [made[kind] for kind in step.produces]
        cited = ", ".join(f"{each.id} {each.sha256[:12]}" for each in taken)
        await self._note(f"{key}/reused", step, Standing.REUSED, cited)
        self._play.board.settle(step, Standing.REUSED, taken, cited)

    async def put_aside(self, number: int, decision: StepDecision) -> None:
        """Dismiss and drop what a decision says."""
        for each in decision.dismiss:
            self._play.board.dismiss(each.request, each.reason)
        for each in decision.drop:
            await self.drop(number, self._play.loop.step(each.step), each.reason)

    async def drop(self, number: int, step: LoopStep, why: str) -> None:
        """Leave an optional step out and withdraw what it made."""
        play = self._play
        gone = play.board.drop(step, why)
        workspace = play.house.workspace

        async def act(scope: StepScope) -> Json:
            if gone:
                await workspace.withdraw(play.stage, scope, play.unit, gone, why)
            self._tell_end(scope, step, Standing.SKIPPED, why)
            return [asdict(each) for each in gone]

        leaves = bool(gone) and workspace.leaves_receipts
        await play.stage.run.step(
            f"{number}/drop/{step.id}",
            act,
            kind=StepKind.TOOL if leaves else StepKind.WORK,
            effect=Effect.IDEMPOTENT,
        )

    async def _note(self, key: str, step: LoopStep, standing: Standing, why: str) -> None:
        async def act(scope: StepScope) -> Json:
            self._tell_end(scope, step, standing, why)
            return why

        await self._play.stage.run.step(key, act, inputs=why, effect=Effect.PURE)

    def _tell_end(self, scope: StepScope, step: LoopStep, standing: Standing, why: str) -> None:
        told: dict[str, Any] = {"step": step.id, "status": standing.value, "why": why}
        tell(self._play.stage, scope, "step.finished", told)

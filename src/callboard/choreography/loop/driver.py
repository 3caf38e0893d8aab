"""The driver of a loop: has done what can be done, until code and Showrunner are content.

Every decision, answer and effect is a journaled step, so a run that is lost goes on where it was.
The bounds are code: no decision takes a step that is not offered, skips one that is required,
opens a gate, or goes on past a limit without the human's word.
"""

import logging
from collections.abc import Sequence
from typing import Final, cast

from callboard.choreography.loop.board import LoopBoard, Standing
from callboard.choreography.loop.casting import LoopPlay, StepOrder
from callboard.choreography.loop.deciding import Showrunner
from callboard.choreography.loop.decisions import StepDecision
from callboard.choreography.loop.definition import Loop, LoopStep
from callboard.choreography.loop.house import Bounds, DecisionPolicy, LoopHouse, MissingLoopInput
from callboard.choreography.loop.ports import LoopRequest, OpenedUnit
from callboard.choreography.loop.prompting import LoopPrompts
from callboard.choreography.loop.result import (
    LoopEnd,
    LoopResult,
    LoopStatus,
    validation_of,
)
from callboard.choreography.loop.revisions import RevisionRequest
from callboard.choreography.loop.ruling import LoopRuling
from callboard.choreography.loop.sessions import RoleSessions
from callboard.choreography.loop.unit import close_unit, open_unit, require_entries
from callboard.choreography.loop.upkeep import Upkeep
from callboard.choreography.loop.working import StepOutcome, StepWork
from callboard.choreography.stage import Stage
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Question
from callboard.engine.errors import DuplicateKey, NonDeterministic, NotNow, StepFailed
from callboard.store.connection import StoreError

_log: Final = logging.getLogger(__name__)
# What is wrong with the journal is the engine's to tell; a unit of work cannot be blamed for it.
_ENGINES: Final = (NonDeterministic, DuplicateKey, NotNow, StoreError)
RETRY: Final = "retry"
DEFER: Final = "accept what there is, deferred"
ABORT: Final = "abort"


class LoopDriver:
    """Plays one loop on a stage."""

    def __init__(self, stage: Stage, house: LoopHouse, loop: Loop, request: LoopRequest) -> None:
        """Take the loop and what it is started with."""
        policy = cast("DecisionPolicy", request.policy or house.settings.policy)
        prompts = LoopPrompts(stage.studio, house, loop)
        settings = house.settings
        self._request = request
        # Where the work goes afterwards, by the step that says so; the last to be done counts.
        self._handed_on: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._number = 0
        self._failures = 0
        # The clock of the timebox: when it began to run, and when somebody last looked.
        self._began_ms = 0
        self._now_ms = 0
        self._first_failure: dict[str, str] = {}
        self.play = LoopPlay(
            stage=stage,
            house=house,
            loop=loop,
            board=LoopBoard(loop),
            prompts=prompts,
            showrunner=Showrunner(stage, house, prompts, policy),
            bounds=Bounds(loop, settings),
            sessions=RoleSessions(settings.history_turns, settings.history_chars),
            awake=frozenset(
                each.id
                for each in house.cast.roster()
                if not each.may_sleep or each.id in request.awake
            ),
            brief=request.brief,
        )
        self._ruling = LoopRuling(self.play)
        self._upkeep = Upkeep(self.play)

    async def perform(self) -> LoopResult:
        """Play the loop to its end; whatever goes wrong inside is told in the result."""
        try:
            opened, self._began_ms = await open_unit(self.play, self._request)
            self._now_ms = self._began_ms
            require_entries(self.play.loop, opened.entries, self.play.house.registry)
            await self._upkeep.adopt_known(opened, is_continued=self._request.unit is not None)
            end = await self._drive(opened)
        except _ENGINES:
            raise
        except StepFailed as failed:
            end = LoopEnd(LoopStatus.FAILED, failed.message, failed.error.code, failed.key)
        except MissingLoopInput as error:
            end = LoopEnd(LoopStatus.FAILED, error.message, error.code, self._key("open"))
        except CallboardError as error:
            end = LoopEnd(LoopStatus.FAILED, error.message, error.code, self._key("close"))
        except Exception as error:  # noqa: BLE001 - the border of a loop, and it logs
            # A fault in a pack's code ends its unit, not the process.
            _log.exception("loop %s of run %s", self.play.loop.id, self.play.stage.run.id)
            told = f"{type(error).__name__}: {error}"
            end = LoopEnd(LoopStatus.FAILED, told, "internal", self._key("close"))
        return await close_unit(self.play, self._result(end))

    def _key(self, key: str) -> str:
        return self.play.stage.run.key(key)

    async def _drive(self, opened: OpenedUnit) -> LoopEnd:
        board = self.play.board
        while True:
            self._number += 1
            board.iterations += 1
            await self._upkeep.settle_skips(self._number)
            if not board.unstable() and await self._ruling.is_achieved(self._number):
                return LoopEnd(LoopStatus.SUCCESS)
            end = await self._at_limit() or await self._advance(opened)
            if end is not None:
                return end

    async def _advance(self, opened: OpenedUnit) -> LoopEnd | None:
        """Take the step that is decided on."""
        play, number = self.play, self._number
        decided = await self._ruling.next_step(number, opened.made)
        self._now_ms = max(self._now_ms, decided.at_ms)
        if self._is_late:
            # What was taken before took all the time there was.
            return await self._at_limit()
        decision = decided.answer
        if not decision.step:
            return await self._escalate("no step can be taken", LoopStatus.STALLED)
        await self._upkeep.put_aside(number, decision)
        if decision.ask_human is not None:
            await self._ask_aside(decision)
            return None
        step = play.loop.step(decision.step)
        key = f"{number}/{step.id}"
        if decision.adopt:
            await self._upkeep.adopt(key, step, opened.made)
            return None
        if not play.board.is_offered(step, play.bounds.attempts):
            # What was put aside with the decision took away what the step needs.
            play.notes.append(f"{step.id} cannot be taken any more")
            return None
        return await self._take(key, step, decision)

    async def _take(self, key: str, step: LoopStep, decision: StepDecision) -> LoopEnd | None:
        play = self.play
        roles = self._ruling.roles_of(step, decision.role)
        await self._upkeep.begin(key, step, roles)
        outcome = await StepWork(play, StepOrder(key, step, roles, decision.instructions)).perform()
        play.board.settle(step, outcome.standing, outcome.artifacts, outcome.message)
        play.board.revisions += outcome.requests
        self._handed_on.pop(step.id, None)
        if outcome.handed_on is not None:
            self._handed_on[step.id] = outcome.handed_on
        play.notes[:] = [*play.notes, f"{step.id}: {outcome.standing.value} {outcome.message}"][-8:]
        if outcome.standing is Standing.FAILED:
            return await self._failed(key, step, outcome)
        self._first_failure.pop(step.id, None)
        if outcome.standing is Standing.BLOCKED:
            return await self._blocked(step, outcome)
        return None

    async def _failed(self, key: str, step: LoopStep, outcome: StepOutcome) -> LoopEnd | None:
        board = self.play.board
        self._failures += 1
        first = self._first_failure.setdefault(step.id, self._key(key))
        if board.rows[step.id].failures < self.play.bounds.attempts:
            return None
        why = f"{step.id} failed {self.play.bounds.attempts} times: {outcome.message}"
        if step.required is False:
            await self._upkeep.drop(self._number, step, why)
            return None
        return await self._escalate(why, LoopStatus.FAILED, restart=first)

    async def _blocked(self, step: LoopStep, outcome: StepOutcome) -> LoopEnd | None:
        board, bounds = self.play.board, self.play.bounds
        if board.gate_blocks >= bounds.revision_cycles:
            why = f"{step.id} blocked {board.gate_blocks} times: {_told(outcome.requests)}"
            return await self._escalate(why, LoopStatus.STALLED)
        decision = await self._ruling.after_block(self._number, step, outcome)
        why = f"{step.id} blocks: {_told(outcome.requests)}"
        match decision.action:
            case "revise":
                return None
            case "escalate":
                return await self._escalate(why, LoopStatus.STALLED)
            case "defer":
                return LoopEnd(LoopStatus.STALLED, why, "deferred")
            case "abort":
                return LoopEnd(
                    LoopStatus.FAILED, why, "aborted", self._key(f"{self._number}/block")
                )

    @property
    def _is_late(self) -> bool:
        most = self.play.bounds.timebox_ms
        return most is not None and self._now_ms - self._began_ms > most

    async def _at_limit(self) -> LoopEnd | None:
        play, bounds = self.play, self.play.bounds
        if play.board.iterations > bounds.iterations:
            why = f"not stable after {bounds.iterations} steps: {_open(play.board)}"
        elif self._is_late:
            why = f"the time for this loop is over: {_open(play.board)}"
        else:
            return None
        return await self._escalate(why, LoopStatus.STALLED)

    async def _escalate(self, why: str, status: LoopStatus, restart: str = "") -> LoopEnd | None:
        """Ask the human how to go on; without one, end as the limit says."""
        if not self._request.is_interactive:
            return LoopEnd(status, why, "limit_reached", restart)
        answer = await self.play.stage.ask_human(
            f"{self._number}/limit",
            f"{self.play.loop.name}: {why}. How shall it go on?",
            choices=(RETRY, DEFER, ABORT),
            default=DEFER,
        )
        if answer == DEFER:
            return LoopEnd(LoopStatus.STALLED, why, "deferred")
        if answer == ABORT:
            where = restart or self._key(f"{self._number}/limit")
            return LoopEnd(LoopStatus.FAILED, why, "aborted", where)
        self.play.board.allow_more()
        self._began_ms = self._now_ms
        return None

    async def _ask_aside(self, decision: StepDecision) -> None:
        """Ask what the Showrunner wants to know; without a human the default is the answer."""
        asked = decision.ask_human
        assert asked is not None  # noqa: S101 - asked by the caller
        answer = asked.default
        if self._request.is_interactive:
            options = tuple(dict.fromkeys((*asked.options, asked.default)))
            question = Question(asked.text, options, asked.default, pattern=r"(?s).+")
            answer = str(await self.play.stage.run.ask_human(f"{self._number}/ask", question))
        self.play.notes.append(f"asked {asked.text!r}, the answer is {answer!r}")

    def _result(self, end: LoopEnd) -> LoopResult:
        play, board = self.play, self.play.board
        next_loop, next_inputs = None, ()
        if end.status is LoopStatus.SUCCESS and self._handed_on:
            next_loop, next_inputs = list(self._handed_on.values())[-1]
        return LoopResult(
            loop=play.loop.id,
            status=end.status,
            unit=play.unit,
            artifacts={k: a for k, a in board.artifacts.items() if k in play.loop.producers},
            steps=board.steps(),
            validation=validation_of(board, self._failures),
            revisions=tuple(each.to_json() for each in board.revisions if each.is_open),
            deferrals=tuple(board.deferrals),
            next_loop=next_loop,
            next_inputs=next_inputs,
            error=end.error,
            error_code=end.code,
            restart=end.restart,
            stats={
                "iterations": self._number - 1,
                "role_calls": play.role_calls,
                "showrunner_calls": play.showrunner.calls,
                "decisions": play.showrunner.decisions,
                "deviations": play.showrunner.deviations,
                "fallbacks": play.showrunner.fallbacks,
                "gate_blocks": board.gate_blocks,
            },
        )


def _told(requests: Sequence[RevisionRequest]) -> str:
    return "; ".join(each.reason for each in requests) or "without saying why"


def _open(board: LoopBoard) -> str:
    return "; ".join(board.unstable()) or "the goal is not achieved"

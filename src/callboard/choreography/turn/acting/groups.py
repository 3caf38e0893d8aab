"""Groups: steps of one run together, groups run one after the other.

A step that fails leaves its siblings alone; whoever depends on it is left out, and said to be.
Before the first write of a plan that was not agreed to, everything stops.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.choreography.stage import Stage
from callboard.choreography.turn.acting.analyzing import perform_analyze
from callboard.choreography.turn.acting.generating import perform_generate
from callboard.choreography.turn.acting.handles import register
from callboard.choreography.turn.acting.reading import perform_read
from callboard.choreography.turn.acting.steps import Scene, failed, skipped, told
from callboard.choreography.turn.acting.writing import perform_write, preview_write
from callboard.choreography.turn.asker import THINK
from callboard.choreography.turn.requests import WritePreview, WriteRequest
from callboard.choreography.turn.shapes import (
    StepResult,
    StepStatus,
    StepType,
    ThinkOutput,
    ThinkStep,
)
from callboard.choreography.turn.thinking.planning import Continued, PlanUnusable, make_plan
from callboard.choreography.turn.thinking.references import (
    broken_need,
    inputs_of,
    must_propose,
    unmet,
)
from callboard.choreography.turn.work import TurnWork
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import BatchKind

_log: Final = logging.getLogger(__name__)
MAX_PARALLEL: Final = 4
MAX_REPLANS: Final = 2
STEP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user agreed to: whether to the whole plan, and what each write would touch."""

    is_given: bool = False
    previews: Mapping[str, WritePreview] = field(default_factory=dict[str, WritePreview])


@dataclass(frozen=True, slots=True)
class Held:
    """A plan that waits for the user's word, as far as it got; nothing that waits is written."""

    plan: ThinkOutput
    previews: Mapping[str, WritePreview]


class PlanExecution:
    """One plan being executed in one turn."""

    def __init__(
        self, work: TurnWork, plan: ThinkOutput, consent: Consent, *, proposes: bool
    ) -> None:
        """Take the plan; `proposes` holds it before its first write, unless consent is given."""
        self.work = work
        self.plan = plan
        self._consent = consent
        self._proposes = proposes and not consent.is_given
        self._replans = 0
        # Two writes of one group follow each other: each is a transaction of its own.
        self._writing = asyncio.Lock()

    async def perform(self) -> Held | None:
        """Execute what is not executed yet; return what is held back, if anything is."""
        group = 0
        while any(step.group >= group for step in self.plan.steps):
            todo = self._possible(self._todo(group))
            if self._proposes and any(e.step_type is StepType.WRITE for e in todo):
                held = await self._hold(todo)
                if not self._is_idle(held):
                    return held
            await self._perform_group(group, todo)
            waiting = self._waiting(todo)
            if waiting is not None:
                return waiting
            if not await self._goes_on(group):
                break
            group += 1
        return None

    def _is_idle(self, held: Held) -> bool:
        """Say whether all that waits would touch nothing: nobody is asked, but told why."""
        writes = [e for e in self.plan.steps if e.step_type is StepType.WRITE]
        found = [held.previews.get(each.id) for each in writes]
        return all(each is not None and not each.match_count for each in found)

    def _todo(self, group: int) -> list[ThinkStep]:
        return [
            step
            for step in self.plan.steps
            if step.group == group and step.id not in self.work.results
        ]

    def _possible(self, todo: Sequence[ThinkStep]) -> list[ThinkStep]:
        """Leave out what needs a step that failed: nobody is asked about what cannot be done."""
        work = self.work
        for step in todo:
            reason = broken_need(step, self.plan.steps, work.results)
            if reason is not None:
                work.results[step.id] = skipped(step, reason)
        return [step for step in todo if step.id not in work.results]

    async def _perform_group(self, group: int, todo: Sequence[ThinkStep]) -> None:
        work = self.work
        branches = {step.id: self._branch(step) for step in todo}
        outcomes = await work.stage.collect(branches, limit=MAX_PARALLEL) if branches else {}
        batch = self._batch_kind(group)
        for step in todo:
            if step.id not in outcomes:
                continue
            outcome = outcomes[step.id]
            if outcome.value is not None:
                result = register(work, step, outcome.value, batch)
            else:
                message = outcome.failed.error.message if outcome.failed is not None else ""
                result = failed(step, [message])
            work.results[step.id] = result

    def _branch(self, step: ThinkStep) -> Callable[[Stage], Awaitable[StepResult]]:
        async def perform(stage: Stage) -> StepResult:
            inputs = inputs_of(step, self.plan.steps, self.work.results)
            scene = Scene(self.work, stage, step, inputs, self._consent.is_given)
            self.work.show("step_started", step=step.id, description=step.description)
            # A model that works on this machine is slow, not lost: silence ends it.
            limit = None if scene.asker.is_constrained(scene.node) else STEP_SECONDS
            try:
                async with asyncio.timeout(limit):
                    result = await self._perform(scene)
            except TimeoutError:
                result = failed(step, [f"it took longer than {STEP_SECONDS:g} seconds"])
            except CallboardError as error:
                result = failed(step, [told(error)])
            self.work.show("step_finished", step=step.id, status=result.status.value)
            return result

        return perform

    async def _perform(self, scene: Scene) -> StepResult:
        match scene.step.step_type:
            case StepType.READ:
                return await perform_read(scene)
            case StepType.ANALYZE:
                return await perform_analyze(scene)
            case StepType.GENERATE:
                return await perform_generate(scene)
            case StepType.WRITE:
                async with self._writing:
                    return await perform_write(scene, self._consent.previews.get(scene.step.id))

    def _batch_kind(self, group: int) -> BatchKind:
        """Say what drafts made together are: a whole if something is done with all of them."""
        is_followed = any(
            step.step_type is StepType.WRITE and step.group > group for step in self.plan.steps
        )
        return BatchKind.SET if is_followed else BatchKind.ALTERNATIVES

    def _waiting(self, todo: Sequence[ThinkStep]) -> Held | None:
        """Return what waits for a word after a group; it will be done when the word is given."""
        previews: dict[str, WritePreview] = {}
        for step in todo:
            result = self.work.results.get(step.id)
            if result is None or result.status is not StepStatus.AWAITING_CONFIRMATION:
                continue
            previews[step.id] = WritePreview.model_validate(result.result["preview"])
            self._settle(step, WriteRequest.model_validate(result.result["request"]))
            del self.work.results[step.id]
        return Held(self.plan, previews) if previews else None

    async def _hold(self, todo: Sequence[ThinkStep]) -> Held:
        """Look at what the next writes would touch, without writing."""
        writes = {step.id: step for step in todo if step.step_type is StepType.WRITE}
        looks = {f"{name}.look": self._look(step) for name, step in writes.items()}
        outcomes = await self.work.stage.collect(looks, limit=MAX_PARALLEL)
        previews: dict[str, WritePreview] = {}
        for name, step in writes.items():
            outcome = outcomes[f"{name}.look"]
            if outcome.value is None:
                _log.info("nothing to show for %s: %s", name, outcome.failed)
                continue
            request, previews[name] = outcome.value
            self._settle(step, request)
        return Held(self.plan, previews)

    def _look(
        self, step: ThinkStep
    ) -> Callable[[Stage], Awaitable[tuple[WriteRequest, WritePreview]]]:
        inputs = inputs_of(step, self.plan.steps, self.work.results)
        return lambda stage: preview_write(Scene(self.work, stage, step, inputs))

    def _settle(self, step: ThinkStep, request: WriteRequest) -> None:
        """Keep the change that was shown: the very one is done when the user agrees."""
        steps = [
            each.model_copy(update={"write": request}) if each.id == step.id else each
            for each in self.plan.steps
        ]
        self.plan = self.plan.model_copy(update={"steps": steps})

    async def _goes_on(self, group: int) -> bool:
        """Check a group where the mode wants that; what is left may be planned anew."""
        work = self.work
        if work.mode.think != "full" or work.asker.is_constrained(THINK):
            return True
        problems = unmet(self.plan.steps, work.results, group)
        rest = [step for step in self.plan.steps if step.group > group]
        if not problems or not rest:
            return True
        if self._replans >= MAX_REPLANS:
            for step in rest:
                work.results.setdefault(step.id, skipped(step, problems[0]))
            return False
        if work.calls_left < 2:
            return True
        self._replans += 1
        return await self._replan(group, problems)

    def _ask_again(self, plan: ThinkOutput, agreed: Sequence[WriteRequest]) -> None:
        """Hold a new plan as the old one would be; a yes holds only for what was shown."""
        is_new = any(
            step.step_type is StepType.WRITE and (step.write is None or step.write not in agreed)
            for step in plan.steps
        )
        if self._consent.is_given and is_new:
            self._consent, self._proposes = Consent(), True
        elif not self._consent.is_given:
            self._proposes = self._proposes or must_propose(plan, self.work.mode)

    async def _replan(self, group: int, problems: Sequence[str]) -> bool:
        work = self.work
        done = tuple(work.results)
        told_so = [f"{name}: {work.results[name].summary}" for name in done]
        change = "\n".join([*told_so, *problems, f"Plan what is left, from group {group + 1} on."])
        after = Continued(f"replan/{self._replans}", group + 1, done)
        try:
            checked = await make_plan(work, work.message, (), change, after)
        except (CallboardError, PlanUnusable) as error:
            _log.warning("the rest was not planned anew: %s", error)
            return True
        kept = [step for step in self.plan.steps if step.group <= group]
        agreed = [step.write for step in self.plan.steps if step.write is not None]
        self._ask_again(checked.plan, agreed)
        self.plan = self.plan.model_copy(update={"steps": [*kept, *checked.plan.steps]})
        return True

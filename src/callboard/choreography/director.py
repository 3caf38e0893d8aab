"""The director: takes an approved plan through its runs, one at a time, and writes the reviews.

Its whole memory is the stored plan: a director that dies is replaced by another, which first looks
what became of the run that was under way.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from callboard.choreography.planning import PlanMaker
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Conflict
from callboard.core.vocabulary import Plan, PlanState, RunRecord, RunState, Task, TaskState
from callboard.store.connection import Connection
from callboard.store.journal.issues import IssueFilter
from callboard.store.journal.steps import load_journal
from callboard.studio import plan_changes, plan_progress
from callboard.studio.plan_changes import task_of, unblocked, with_task
from callboard.studio.plan_progress import running_task
from callboard.studio.studio import Studio


def review(studio: Studio, plan: Plan, task: Task, run: RunRecord) -> dict[str, Json]:
    """Return the review entry of a task whose run is over."""
    issues = studio.issues.list(IssueFilter(run_id=run.id))
    steps = studio.database.read(lambda connection: load_journal(connection, run))
    return {
        "run_id": run.id,
        "run_status": run.state.value,
        "error": run.error.to_json() if run.error is not None else None,
        "dod_results": _dod_results(run),
        # The Chief's own words stand beside the machine's results and never override them.
        "dod_text": task.dod or None,
        "issues": [{"id": issue.id, "title": issue.title} for issue in issues],
        "artifacts": sorted(
            step.slot for step in steps.values() if step.slot and step.receipt_id is None
        ),
        "next_steps": [
            {"id": each.id, "description": each.description}
            for each in plan.tasks
            if each.id != task.id and _may_follow(plan, each, task, run)
        ],
    }


def _dod_results(run: RunRecord) -> Json:
    source: Any = run.result
    if not isinstance(source, dict) and run.error is not None:
        source = run.error.context
    results: Any = cast(dict[str, Any], source or {}).get("dod_results")
    return results if isinstance(results, list) else []  # pyright: ignore[reportUnknownVariableType]


def _may_follow(plan: Plan, each: Task, ended: Task, run: RunRecord) -> bool:
    if each.state is TaskState.PENDING:
        return True
    done = {task.id for task in plan.tasks if task.state is TaskState.DONE}
    if run.state.value == "done":
        done.add(ended.id)
    return each.state is TaskState.BLOCKED and set(each.deps) <= done


@dataclass(frozen=True, slots=True)
class Director:
    """Works through the plans of one project."""

    studio: Studio
    maker: PlanMaker

    async def start(self, plan_id: str) -> Plan:
        """Approve a plan; `drive` then works through it."""
        return await self.studio.plans.change(self._id(plan_id), plan_changes.start)

    async def pause(self, plan_id: str) -> Plan:
        """Hold a plan at the next task boundary."""
        return await self.studio.plans.change(self._id(plan_id), plan_changes.pause)

    async def resume(self, plan_id: str) -> Plan:
        """Let a plan that rests go on."""
        return await self.studio.plans.change(self._id(plan_id), plan_changes.resume)

    async def reorder(self, plan_id: str, order: list[int]) -> Plan:
        """Put the tasks into another order."""
        return await self.studio.plans.change(
            self._id(plan_id), lambda plan: plan_changes.reorder(plan, order)
        )

    async def remove(self, plan_id: str, task_id: int, *, drop_deps: bool = False) -> Plan:
        """Take a task out."""
        return await self.studio.plans.change(
            self._id(plan_id), lambda plan: plan_changes.remove(plan, task_id, drop_deps=drop_deps)
        )

    async def edit(self, plan_id: str, task_id: int, description: str) -> Plan:
        """Say a task in other words."""
        found = self.maker.routed(description)
        return await self.studio.plans.change(
            self._id(plan_id), lambda plan: plan_changes.edit(plan, task_id, description, found)
        )

    async def answer(self, plan_id: str, task_id: int, text: str) -> Plan:
        """Answer what a task asks; description and answer together are routed anew."""
        task = task_of(self.studio.plans.get(plan_id), task_id)
        found = self.maker.routed_with(task.description, text)
        return await self.studio.plans.change(
            self._id(plan_id), lambda plan: plan_changes.answer(plan, task_id, text, found)
        )

    async def force(self, plan_id: str, task_id: int) -> Plan:
        """Run a task although what it waits for is not done; nothing else is started."""
        plan = await self.studio.plans.change(
            self._id(plan_id), lambda plan: plan_changes.force(plan, task_id)
        )
        return await self._begin(plan, task_of(plan, task_id))

    async def retry(self, plan_id: str, task_id: int) -> Plan:
        """Begin a failed task again where its run failed."""
        plan = self.studio.plans.get(plan_id)
        failed = plan_progress.retried(plan, task_id)

        def link(connection: Connection, run: RunRecord) -> None:
            self.studio.plans.change_with(
                connection, plan.id, lambda now: plan_progress.started(now, task_id, run.id)
            )

        await self.studio.retry(failed, together=link)
        self.studio.plans.copy(plan.id)
        return self.studio.plans.get(plan.id)

    async def drive(self, plan_id: str) -> Plan:
        """Work until the plan rests: done, failed, paused, or waiting for the user."""
        plan = await self.reconcile(plan_id)
        while True:
            running = running_task(plan)
            if running is not None and running.run_id is not None:
                if not await self._take_up(running.run_id):
                    return plan
                await self.studio.engine.wait(running.run_id)
                plan = await self.reconcile(plan.id)
                continue
            task = plan_progress.next_task(plan)
            if task is None:
                return plan
            plan = await self._begin(plan, task)

    async def _take_up(self, run_id: str) -> bool:
        """See to it that somebody executes a run; say if nobody does because it is paused."""
        engine = self.studio.engine
        run = engine.load(run_id)
        if run.is_terminal or engine.is_executed(run):
            return True
        if run.state is RunState.PAUSED:
            return False
        with suppress(Conflict):
            # Another process may be quicker.
            await engine.resume(run_id)
        return True

    async def reconcile(self, plan_id: str) -> Plan:
        """Note what became of the run that a plan believes to be under way."""
        plan = self.studio.plans.get(plan_id)
        running = running_task(plan)
        if running is None or running.run_id is None:
            return plan
        run = self.studio.engine.load(running.run_id)
        if not run.is_terminal:
            return plan
        return await self._settle(plan, running, run.state, review(self.studio, plan, running, run))

    async def reconcile_all(self) -> list[Plan]:
        """Do the same for every plan, as at start-up, and return those that can go on."""
        found = [await self.reconcile(plan.id) for plan in self.studio.plans.list()]
        return [plan for plan in found if plan.state is PlanState.RUNNING]

    async def _begin(self, plan: Plan, task: Task) -> Plan:
        """Start a task's run; the run and the plan's word on it are stored together."""

        def link(connection: Connection, run: RunRecord) -> None:
            self.studio.plans.change_with(
                connection, plan.id, lambda now: plan_progress.started(now, task.id, run.id)
            )

        args: dict[str, Json] = {
            **task.args,
            "description": task.description,
            "session_plan_task_id": f"{plan.id}/{task.id}",
        }
        try:
            await self.studio.start(
                str(task.recipe_id), args, session_id=plan.session_id, together=link
            )
        except CallboardError as error:
            # It never began: the user has to mend something first, so the plan rests.
            return await self._could_not_start(plan, task, error)
        self.studio.plans.copy(plan.id)
        return self.studio.plans.get(plan.id)

    async def _settle(self, plan: Plan, task: Task, ended: RunState, told: dict[str, Json]) -> Plan:
        def settle(now: Plan) -> Plan:
            current = task_of(now, task.id)
            if current.state is not TaskState.RUNNING or current.run_id != task.run_id:
                # Another director was quicker.
                return now
            return plan_progress.settled(now, task.id, ended, told)

        return await self.studio.plans.change(plan.id, settle)

    async def _could_not_start(self, plan: Plan, task: Task, error: CallboardError) -> Plan:
        def note(now: Plan) -> Plan:
            current = task_of(now, task.id)
            held = replace(
                current,
                state=TaskState.NEEDS_SCOPING,
                forced=False,
                reason=f"it could not start: {error.message}",
            )
            return unblocked(replace(with_task(now, held), state=PlanState.PAUSED))

        return await self.studio.plans.change(plan.id, note)

    def _id(self, plan_id: str) -> str:
        return self.studio.plans.get(plan_id).id

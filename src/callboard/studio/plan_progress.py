"""How a plan goes on when runs start and end. Pure: the director asks, this answers."""

from dataclasses import replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.vocabulary import Plan, PlanState, RunState, Task, TaskState
from callboard.studio.plan_changes import PlanConflict, require_idle, task_of, unblocked, with_task

_OVER: Final = frozenset({TaskState.DONE})


def next_task(plan: Plan) -> Task | None:
    """Return the task that may start now: the first that waits for nothing, one at a time."""
    if plan.state is not PlanState.RUNNING:
        return None
    if any(task.state is TaskState.RUNNING for task in plan.tasks):
        return None
    return next((task for task in plan.tasks if task.state is TaskState.PENDING), None)


def running_task(plan: Plan) -> Task | None:
    """Return the task whose run is under way."""
    return next((task for task in plan.tasks if task.state is TaskState.RUNNING), None)


def started(plan: Plan, task_id: int, run_id: str) -> Plan:
    """Note that a task's run was started."""
    require_idle(plan)
    task = task_of(plan, task_id)
    running = replace(
        task,
        state=TaskState.RUNNING,
        run_id=run_id,
        run_history=(*task.run_history, run_id),
        review=None,
    )
    return with_task(plan, running)


def retried(plan: Plan, task_id: int) -> str:
    """Return the run that is to be begun again for a failed task."""
    task = task_of(plan, task_id)
    if task.state is not TaskState.FAILED or task.run_id is None:
        raise PlanConflict(
            f"Task {task_id} cannot be retried: it is {task.state.value}, not failed",
            task=task_id,
        )
    require_idle(plan)
    return task.run_id


def settled(plan: Plan, task_id: int, ended: RunState, review: dict[str, Json]) -> Plan:
    """Note how a task's run ended, and what that means for the plan."""
    task = task_of(plan, task_id)
    if ended is RunState.CANCELLED:
        # Nobody failed: the user stopped it, so the plan rests until the user goes on.
        waiting = replace(task, state=TaskState.PENDING, review=review)
        state = PlanState.PAUSED if plan.state is PlanState.RUNNING else plan.state
        return unblocked(replace(with_task(plan, waiting), state=state))
    state = TaskState.DONE if ended is RunState.DONE else TaskState.FAILED
    return _concluded(unblocked(with_task(plan, replace(task, state=state, review=review))))


def _concluded(plan: Plan) -> Plan:
    """Return the plan with its own state, if nothing in it can go on by itself."""
    states = {task.state for task in plan.tasks}
    if states <= _OVER:
        return replace(plan, state=PlanState.DONE)
    if plan.state is not PlanState.RUNNING:
        return plan
    if states & {TaskState.PENDING, TaskState.RUNNING}:
        return plan
    return replace(plan, state=PlanState.FAILED if TaskState.FAILED in states else PlanState.PAUSED)

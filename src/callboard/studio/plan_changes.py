"""What the user may do to a plan, and what waits for what in it.

Pure: takes a plan, returns a plan, or says why not.

Edits are made in drafts and in plans that rest; what runs or is done is never edited.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.vocabulary import Plan, PlanState, Task, TaskState

WAITING = frozenset({TaskState.PENDING, TaskState.BLOCKED})


def find_cycle(deps: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """Return ids that wait for each other in a ring, or nothing."""
    finished: set[int] = set()
    path: list[int] = []

    def visit(task: int) -> tuple[int, ...]:
        if task in finished:
            return ()
        if task in path:
            return (*path[path.index(task) :], task)
        path.append(task)
        for needed in deps.get(task, ()):
            ring = visit(needed)
            if ring:
                return ring
        path.pop()
        finished.add(task)
        return ()

    for task in deps:
        ring = visit(task)
        if ring:
            return ring
    return ()


def first_inversion(tasks: Iterable[Task]) -> tuple[int, int] | None:
    """Return a task and one it waits for that would come after it, if there is such a pair."""
    ordered = list(tasks)
    place = {task.id: position for position, task in enumerate(ordered)}
    for task in ordered:
        for needed in task.deps:
            if place.get(needed, -1) > place[task.id]:
                return task.id, needed
    return None


def in_dependency_order(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Return tasks so that each comes after what it waits for, else in the order given."""
    waiting = list(tasks)
    placed: list[Task] = []
    while waiting:
        known = {task.id for task in waiting}
        ready = next((task for task in waiting if not known & set(task.deps)), waiting[0])
        waiting.remove(ready)
        placed.append(ready)
    return tuple(placed)


def unblocked(plan: Plan) -> Plan:
    """Return the plan with every waiting task marked by whether what it waits for is done."""
    done = {task.id for task in plan.tasks if task.state is TaskState.DONE}

    def mark(task: Task) -> Task:
        if task.state not in WAITING:
            return task
        ready = task.forced or set(task.deps) <= done
        return replace(task, state=TaskState.PENDING if ready else TaskState.BLOCKED)

    return replace(plan, tasks=tuple(mark(task) for task in plan.tasks))


_EDITABLE: Final = frozenset({PlanState.DRAFT, PlanState.PAUSED})
_UNTOUCHABLE: Final = frozenset({TaskState.RUNNING, TaskState.DONE})


class PlanConflict(Conflict):
    """The plan is in no state for this."""

    code = "plan_conflict"


@dataclass(frozen=True, slots=True)
class RoutedTask:
    """Where a task's words lead: a recipe with arguments, or the reason why it needs scoping."""

    recipe_id: str | None
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    reason: str = ""

    @property
    def needs_scoping(self) -> bool:
        """Whether the user has to say more."""
        return self.recipe_id is None or bool(self.reason)


def task_of(plan: Plan, task_id: int) -> Task:
    """Return a task by its number."""
    for task in plan.tasks:
        if task.id == task_id:
            return task
    known = ", ".join(str(task.id) for task in plan.tasks)
    raise NotFound(
        f"Plan {plan.id} has no task {task_id}", fix=f"Its tasks: {known}.", task_id=task_id
    )


def with_task(plan: Plan, changed: Task) -> Plan:
    """Return the plan with one task replaced."""
    return replace(
        plan, tasks=tuple(changed if task.id == changed.id else task for task in plan.tasks)
    )


def routed(task: Task, found: RoutedTask) -> Task:
    """Return a task as its routing leaves it; a question of the Chief keeps it from starting."""
    asks = task.scoping_question is not None and task.scoping_answer is None
    reason = found.reason or ("the Chief asks something first" if asks else "")
    scoping = found.needs_scoping or asks
    return replace(
        task,
        recipe_id=found.recipe_id,
        args=found.args,
        reason=reason if scoping else "",
        state=TaskState.NEEDS_SCOPING if scoping else TaskState.PENDING,
    )


def start(plan: Plan) -> Plan:
    """Approve a draft: from now on its tasks run."""
    if plan.state is PlanState.RUNNING:
        raise PlanConflict(f"Plan {plan.id} is running already", plan_id=plan.id)
    if plan.state is PlanState.DONE:
        raise PlanConflict(f"Plan {plan.id} is done", plan_id=plan.id)
    return unblocked(replace(plan, state=PlanState.RUNNING))


def pause(plan: Plan) -> Plan:
    """Hold the plan at the next task boundary."""
    if plan.state is not PlanState.RUNNING:
        raise PlanConflict(
            f"Plan {plan.id} is {plan.state.value}, so there is nothing to pause", plan_id=plan.id
        )
    return replace(plan, state=PlanState.PAUSED)


def resume(plan: Plan) -> Plan:
    """Let a plan that rests go on."""
    if plan.state not in (PlanState.PAUSED, PlanState.FAILED):
        raise PlanConflict(
            f"Plan {plan.id} is {plan.state.value}, not paused",
            fix=f"`callboard plan start {plan.id}` starts a draft.",
            plan_id=plan.id,
        )
    return unblocked(replace(plan, state=PlanState.RUNNING))


def reorder(plan: Plan, order: Sequence[int]) -> Plan:
    """Put the tasks into another order, as far as they do not wait for each other."""
    _require_editable(plan)
    known = {task.id: task for task in plan.tasks}
    if sorted(order) != sorted(known):
        raise InvalidInput(
            f"The order {list(order)} does not name every task of plan {plan.id} once",
            fix=f"Its tasks: {', '.join(str(task) for task in known)}.",
        )
    tasks = tuple(known[task] for task in order)
    pair = first_inversion(tasks)
    if pair is not None:
        task, needed = pair
        raise PlanConflict(
            f"Task {task} waits for task {needed}, so it cannot come before it",
            fix="Keep them in order, or edit the task's dependencies.",
            task=task,
            dependency=needed,
        )
    return replace(plan, tasks=tasks)


def remove(plan: Plan, task_id: int, *, drop_deps: bool = False) -> Plan:
    """Take a task out; others that wait for it keep it unless their waiting is dropped too."""
    _require_editable(plan)
    _require_touchable(task_of(plan, task_id))
    waiting = [task.id for task in plan.tasks if task_id in task.deps]
    if waiting and not drop_deps:
        raise PlanConflict(
            f"Task {task_id} cannot be removed: tasks {_listed(waiting)} wait for it",
            fix="Remove those first, or drop the dependency as well (drop_deps).",
            task=task_id,
            dependents=waiting,
        )
    kept = tuple(
        replace(task, deps=tuple(dep for dep in task.deps if dep != task_id))
        for task in plan.tasks
        if task.id != task_id
    )
    return unblocked(replace(plan, tasks=kept))


def edit(plan: Plan, task_id: int, description: str, found: RoutedTask) -> Plan:
    """Say a task in other words; it is routed anew."""
    _require_editable(plan)
    task = task_of(plan, task_id)
    _require_touchable(task)
    if not description.strip():
        raise InvalidInput(f"Task {task_id} needs a description", task_id=task_id)
    changed = replace(task, description=description.strip(), forced=False)
    return unblocked(with_task(plan, routed(changed, found)))


def answer(plan: Plan, task_id: int, text: str, found: RoutedTask) -> Plan:
    """Answer a task's question; it may start then, or says what it still needs."""
    task = task_of(plan, task_id)
    if task.state is not TaskState.NEEDS_SCOPING:
        raise PlanConflict(f"Task {task_id} asks nothing: it is {task.state.value}", task=task_id)
    if not text.strip():
        raise InvalidInput(f"The answer for task {task_id} is empty", task_id=task_id)
    answered = replace(task, scoping_answer=text.strip())
    return unblocked(with_task(plan, routed(answered, found)))


def force(plan: Plan, task_id: int) -> Plan:
    """Let a task run although what it waits for is not done, at the user's own risk."""
    task = task_of(plan, task_id)
    if task.state not in (TaskState.BLOCKED, TaskState.PENDING):
        fix = "Answer its question first." if task.state is TaskState.NEEDS_SCOPING else None
        raise PlanConflict(
            f"Task {task_id} cannot be forced: it is {task.state.value}", fix=fix, task=task_id
        )
    require_idle(plan)
    return with_task(plan, replace(task, forced=True, state=TaskState.PENDING))


def require_idle(plan: Plan) -> None:
    """Refuse a second run of one plan."""
    running = [task.id for task in plan.tasks if task.state is TaskState.RUNNING]
    if running:
        raise PlanConflict(
            f"Task {_listed(running)} of plan {plan.id} is running; a plan runs one at a time",
            fix="Wait for it, or cancel its run.",
            plan_id=plan.id,
        )


def _require_editable(plan: Plan) -> None:
    if plan.state not in _EDITABLE:
        raise PlanConflict(
            f"Plan {plan.id} is {plan.state.value}; only a draft or a paused plan can be edited",
            fix=f"`callboard plan pause {plan.id}` first.",
            plan_id=plan.id,
        )


def _require_touchable(task: Task) -> None:
    if task.state in _UNTOUCHABLE:
        raise PlanConflict(f"Task {task.id} is {task.state.value} and stays as it is", task=task.id)


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(str(each) for each in ids)

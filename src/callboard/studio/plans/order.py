"""The order of tasks: what waits for what. Pure; knows nothing of runs."""

from collections.abc import Iterable
from dataclasses import replace

from callboard.core.vocabulary import Plan, Task, TaskState

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

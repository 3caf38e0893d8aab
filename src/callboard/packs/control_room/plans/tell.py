"""A plan as a checklist."""

from typing import Any, Final, cast

from callboard.cli.output import echo, echo_json, one_line, remark
from callboard.core.errors import NotFound
from callboard.core.vocabulary import Plan, PlanState, Task, TaskState
from callboard.store.connection import Connection
from callboard.store.journal.plans import list_plans, load_plan
from callboard.studio.plans import plan_to_json

_MARKS: Final = {
    TaskState.DONE: "[x]",
    TaskState.FAILED: "[!]",
    TaskState.RUNNING: "[>]",
    TaskState.NEEDS_SCOPING: "[?]",
    TaskState.BLOCKED: "[ ]",
    TaskState.PENDING: "[ ]",
}


def find_plan(connection: Connection, text: str) -> Plan:
    """Return the plan a user means."""
    if text != "last":
        return load_plan(connection, text)
    found = list_plans(connection)
    if not found:
        raise NotFound("This project has no plan yet", fix='Make one: `callboard plan new "…"`.')
    return found[0]


def plan_report(plan: Plan, *, as_json: bool) -> None:
    """Print a plan."""
    if as_json:
        echo_json({"plan": plan_to_json(plan)})
        return
    echo(f"Plan {plan.id}: {plan.state.value}")
    echo(f"Wish: {one_line(plan.intent)}")
    for task in plan.tasks:
        _task_lines(task)
    hint = _hint(plan)
    if hint:
        remark(f"\n{hint}")


def _task_lines(task: Task) -> None:
    waits = f", after {', '.join(str(dep) for dep in task.deps)}" if task.deps else ""
    forced = ", forced" if task.forced else ""
    echo(f"{_MARKS[task.state]} {task.id}. {one_line(task.description)}")
    echo(f"       {task.state.value}{waits}{forced}: {task.recipe_id or 'no recipe yet'}")
    if task.state is TaskState.NEEDS_SCOPING:
        echo(f"       asks: {one_line(task.scoping_question or task.reason)}")
    if task.run_id is not None:
        echo(f"       run {task.run_id}")
    if task.review is not None:
        _review_lines(task.review)


def _review_lines(review: dict[str, Any]) -> None:
    for result in cast(list[dict[str, Any]], review.get("dod_results") or []):
        mark = "met" if result.get("passed") else f"NOT MET: {result.get('reason')}"
        target = f"{result.get('check')} {result.get('target') or ''}".strip()
        echo(f"       {one_line(target)}: {one_line(mark)}")
    for issue in cast(list[dict[str, Any]], review.get("issues") or []):
        echo(f"       issue #{issue['id']}: {one_line(issue['title'])}")


def _hint(plan: Plan) -> str:
    asking = next((t for t in plan.tasks if t.state is TaskState.NEEDS_SCOPING), None)
    if asking is not None:
        return f'Answer it: callboard plan answer {plan.id} {asking.id} "…"'
    if plan.state is PlanState.DRAFT:
        return f"Nothing runs yet. Approve it: callboard plan start {plan.id}"
    if plan.state is PlanState.PAUSED:
        return f"Go on: callboard plan resume {plan.id}"
    failed = next((t for t in plan.tasks if t.state is TaskState.FAILED), None)
    return f"Try again: callboard plan retry {plan.id} {failed.id}" if failed is not None else ""

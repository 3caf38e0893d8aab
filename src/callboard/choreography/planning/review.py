"""What is written down when a task's run has ended: results, not opinions. No model is asked."""

from typing import Any, cast

from callboard.core.canonical import Json
from callboard.core.vocabulary import Plan, RunRecord, Task, TaskState
from callboard.store.journal.issues import IssueFilter
from callboard.store.journal.steps import load_journal
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

"""A plan as doors and the readable copy show it."""

from callboard.core.canonical import Json
from callboard.core.clock import iso
from callboard.core.vocabulary import Plan, Task


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """Return a plan in the shape of `plan.json`."""
    return {
        "plan_id": plan.id,
        "session_id": plan.session_id,
        "created_by": plan.created_by,
        "intent": plan.intent,
        "status": plan.state.value,
        "created_at": iso(plan.created_at),
        "updated_at": iso(plan.updated_at),
        "decomposition_run_id": plan.decomposed_by,
        "tasks": [task_to_json(task) for task in plan.tasks],
    }


def task_to_json(task: Task) -> dict[str, Json]:
    """Return one task of it."""
    return {
        "id": task.id,
        "description": task.description,
        "recipe_id": task.recipe_id,
        "args": task.args,
        "deps": list(task.deps),
        "dod": task.dod or None,
        "status": task.state.value,
        "scoping_question": task.scoping_question,
        "scoping_answer": task.scoping_answer,
        "reason": task.reason or None,
        "run_id": task.run_id,
        "run_history": list(task.run_history),
        "forced": task.forced,
        "review": task.review,
    }

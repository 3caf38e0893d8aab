"""What a user does with a plan: approves it, changes it, holds it, lets it go on."""

from callboard.choreography.director import Director
from callboard.core.vocabulary import Plan
from callboard.operations import operation


def _told(plan: Plan) -> str:
    return f"plan {plan.id}: {plan.state.value}, {len(plan.tasks)} tasks"


@operation(tell=_told, undo="pause_plan")
async def start_plan(director: Director, plan_id: str) -> Plan:
    """Approve a plan."""
    return await director.start(plan_id)


@operation(tell=_told, undo="resume_plan")
async def pause_plan(director: Director, plan_id: str) -> Plan:
    """Hold a plan at the next task boundary."""
    return await director.pause(plan_id)


@operation(tell=_told, undo="pause_plan")
async def resume_plan(director: Director, plan_id: str) -> Plan:
    """Let a plan go on."""
    return await director.resume(plan_id)


@operation(tell=_told, undo="reorder_plan")
async def reorder_plan(director: Director, plan_id: str, order: list[int]) -> Plan:
    """Put the tasks into another order."""
    return await director.reorder(plan_id, order)


@operation(tell=_told, undo="edit_task")
async def edit_task(director: Director, plan_id: str, number: int, description: str) -> Plan:
    """Say a task in other words."""
    return await director.edit(plan_id, number, description)


@operation(tell=_told)
async def answer_task(director: Director, plan_id: str, number: int, text: str) -> Plan:
    """Answer what a task asks before it can start."""
    return await director.answer(plan_id, number, text)


@operation(tell=_told)
async def remove_task(
    director: Director, plan_id: str, number: int, drop_deps: bool = False
) -> Plan:
    """Take a task out of a plan."""
    return await director.remove(plan_id, number, drop_deps=drop_deps)


@operation(tell=_told)
async def force_task(director: Director, plan_id: str, number: int) -> Plan:
    """Run a blocked task at the user's own risk."""
    return await director.force(plan_id, number)


@operation(tell=_told)
async def retry_task(director: Director, plan_id: str, number: int) -> Plan:
    """Begin a failed task again."""
    return await director.retry(plan_id, number)

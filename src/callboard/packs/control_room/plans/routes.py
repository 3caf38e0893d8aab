"""Plans: from a wish to an approved, ordered checklist of runs."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, Wanted
from callboard.core.vocabulary import Plan
from callboard.packs.control_room.plans import operations
from callboard.packs.control_room.routes import OpenRoom
from callboard.studio.plans import plan_to_json

router = APIRouter(prefix="/plans", tags=["plans"])

Number = Annotated[int, Path(ge=1, le=10_000, description="The task's number.")]


class PlanShape(Shown):
    """A plan with its tasks in the order in which they run."""

    plan_id: str
    session_id: str
    status: str
    intent: str
    tasks: list[Entry]


class PlanWanted(Wanted):
    """What the user wants done."""

    intent: str = Field(min_length=1, max_length=100_000)
    session_id: str | None = None


class OrderWanted(Wanted):
    """All tasks of a plan, in the order wanted."""

    order: list[int] = Field(min_length=1, max_length=10_000)


class TaskChange(Wanted):
    """Other words for a task, or the answer to its question."""

    description: str | None = Field(default=None, min_length=1, max_length=10_000)
    scoping_answer: str | None = Field(default=None, min_length=1, max_length=10_000)


@router.post("", status_code=201)
async def make_plan(room: OpenRoom, wanted: PlanWanted) -> PlanShape:
    """Have the Chief split a wish into tasks; nothing runs before the plan is started."""
    return _shape(await room.make_plan(wanted.intent, session_id=wanted.session_id))


@router.get("")
async def list_plans(
    studio: OpenStudio, page: Paged, session_id: str | None = None
) -> list[PlanShape]:
    """List plans, newest first."""
    return [_shape(each) for each in page.cut(studio.plans.list(session_id))]


@router.get("/{plan_id}")
async def show_plan(studio: OpenStudio, plan_id: str) -> PlanShape:
    """Show a plan."""
    return _shape(studio.plans.get(plan_id))


@router.post("/{plan_id}/start")
async def start_plan(room: OpenRoom, plan_id: str) -> PlanShape:
    """Approve a plan: its tasks run one after the other."""
    plan = await room.change_plan(operations.start_plan, plan_id)
    room.drive(plan.id)
    return _shape(plan)


@router.post("/{plan_id}/pause")
async def pause_plan(room: OpenRoom, plan_id: str) -> PlanShape:
    """Hold a plan at the next task boundary; what runs finishes."""
    return _shape(await room.change_plan(operations.pause_plan, plan_id))


@router.post("/{plan_id}/resume")
async def resume_plan(room: OpenRoom, plan_id: str) -> PlanShape:
    """Let a plan go on."""
    plan = await room.change_plan(operations.resume_plan, plan_id)
    room.drive(plan.id)
    return _shape(plan)


@router.post("/{plan_id}/reorder")
async def reorder_plan(room: OpenRoom, plan_id: str, wanted: OrderWanted) -> PlanShape:
    """Put the tasks into another order."""
    return _shape(await room.change_plan(operations.reorder_plan, plan_id, wanted.order))


@router.patch("/{plan_id}/tasks/{number}")
async def change_task(
    room: OpenRoom, plan_id: str, number: Number, wanted: TaskChange
) -> PlanShape:
    """Say a task in other words, or answer its question."""
    plan = room.studio.plans.get(plan_id)
    if wanted.description is not None:
        plan = await room.change_plan(operations.edit_task, plan.id, number, wanted.description)
    if wanted.scoping_answer is not None:
        plan = await room.change_plan(
            operations.answer_task, plan.id, number, wanted.scoping_answer
        )
        room.drive(plan.id)
    return _shape(plan)


@router.delete("/{plan_id}/tasks/{number}")
async def remove_task(
    room: OpenRoom, plan_id: str, number: Number, drop_deps: bool = False
) -> PlanShape:
    """Take a task out."""
    return _shape(
        await room.change_plan(operations.remove_task, plan_id, number, drop_deps=drop_deps)
    )


@router.post("/{plan_id}/tasks/{number}/force-start")
async def force_task(room: OpenRoom, plan_id: str, number: Number) -> PlanShape:
    """Run a task although what it waits for is not done, at the user's own risk."""
    plan = await room.change_plan(operations.force_task, plan_id, number)
    room.drive(plan.id)
    return _shape(plan)


@router.post("/{plan_id}/tasks/{number}/retry")
async def retry_task(room: OpenRoom, plan_id: str, number: Number) -> PlanShape:
    """Begin a failed task again."""
    plan = await room.change_plan(operations.retry_task, plan_id, number)
    room.drive(plan.id)
    return _shape(plan)


def _shape(plan: Plan) -> PlanShape:
    return PlanShape.model_validate(plan_to_json(plan))

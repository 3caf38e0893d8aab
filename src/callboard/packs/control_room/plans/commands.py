"""`callboard plan`: from a wish to an approved checklist of runs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli.options import JsonOption, ModelOption, ProjectOption, SessionOption, new_app

if TYPE_CHECKING:
    from callboard.core.vocabulary import Plan
    from callboard.packs.control_room.room import ControlRoom

app = new_app("Plans: a wish split into tasks, for you to approve, change and run.")

PlanArgument = Annotated[str, typer.Argument(metavar="PLAN", help="Id of a plan, or `last`.")]
TaskArgument = Annotated[int, typer.Argument(metavar="TASK", help="Number of a task.")]


@app.command()
def new(
    intent: Annotated[str, typer.Argument(metavar="WISH", help="What you want, in your words.")],
    session: SessionOption = None,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Have the Chief split a wish into tasks; nothing runs before you start the plan."""

    async def work(room: "ControlRoom") -> "Plan":
        return await room.make_plan(intent, session_id=session)

    return _change(work, project, as_json, model)


@app.command("list")
def list_command(
    session: SessionOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """List plans, newest first."""
    from callboard.cli.output import echo_json, echo_table, moment, remark
    from callboard.cli.reading import reading
    from callboard.core.vocabulary import Plan
    from callboard.store.journal.plans import list_plans
    from callboard.studio.plans import plan_to_json

    with reading(project) as journal:
        nothing: list[Plan] = []
        plans = journal.read_or(nothing, lambda connection: list_plans(connection, session))
    if as_json:
        echo_json({"plans": [plan_to_json(plan) for plan in plans]})
    elif not plans:
        remark('No plans yet: `callboard plan new "…"` makes one.')
    else:
        rows = [(p.id, p.state.value, moment(p.created_at), p.intent) for p in plans]
        echo_table(("PLAN", "STATE", "MADE", "WISH"), rows)


@app.command()
def show(plan: PlanArgument, project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """Show a plan with its tasks and reviews."""
    from callboard.cli.reading import reading
    from callboard.packs.control_room.plans.tell import find_plan, plan_report

    with reading(project) as journal:
        found = journal.read(lambda connection: find_plan(connection, plan))
    plan_report(found, as_json=as_json)


@app.command()
def start(
    plan: PlanArgument,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Approve a plan and work through it until it rests."""
    from callboard.packs.control_room.plans import operations

    return _drive(
        plan,
        lambda room, plan_id: room.change_plan(operations.start_plan, plan_id),
        project,
        as_json,
        model,
    )


@app.command()
def resume(
    plan: PlanArgument,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let a paused or failed plan go on until it rests."""
    from callboard.core.vocabulary import PlanState
    from callboard.packs.control_room.plans import operations

    async def go_on(room: "ControlRoom", plan_id: str) -> "Plan":
        found = room.studio.plans.get(plan_id)
        # One that was interrupted says that it runs; it is simply taken up.
        return (
            found
            if found.state is PlanState.RUNNING
            else await room.change_plan(operations.resume_plan, plan_id)
        )

    return _drive(plan, go_on, project, as_json, model)


@app.command()
def pause(plan: PlanArgument, project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Hold a plan at the next task boundary; what runs finishes."""
    from callboard.packs.control_room.plans import operations

    return _change(lambda room: room.change_plan(operations.pause_plan, plan), project, as_json)


@app.command()
def reorder(
    plan: PlanArgument,
    order: Annotated[list[int], typer.Argument(metavar="TASK", help="All tasks, in order.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Put the tasks into another order, as far as they do not wait for each other."""
    from callboard.packs.control_room.plans import operations

    return _change(
        lambda room: room.change_plan(operations.reorder_plan, plan, order), project, as_json
    )


@app.command()
def edit(
    plan: PlanArgument,
    task: TaskArgument,
    description: Annotated[str, typer.Argument(metavar="TEXT", help="The task in other words.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say a task in other words; it is routed anew."""
    from callboard.packs.control_room.plans import operations

    return _change(
        lambda room: room.change_plan(operations.edit_task, plan, task, description),
        project,
        as_json,
    )


@app.command()
def answer(
    plan: PlanArgument,
    task: TaskArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the task needs to know.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Answer what a task asks before it can start."""
    from callboard.packs.control_room.plans import operations

    return _change(
        lambda room: room.change_plan(operations.answer_task, plan, task, text), project, as_json
    )


@app.command()
def remove(
    plan: PlanArgument,
    task: TaskArgument,
    drop_deps: Annotated[
        bool, typer.Option("--drop-deps", help="Let tasks that wait for it wait no longer.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Take a task out of a plan."""
    from callboard.packs.control_room.plans import operations

    return _change(
        lambda room: room.change_plan(operations.remove_task, plan, task, drop_deps=drop_deps),
        project,
        as_json,
    )


@app.command()
def force(
    plan: PlanArgument,
    task: TaskArgument,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run a blocked task at your own risk, and nothing else of the plan."""
    from callboard.packs.control_room.plans import operations

    return _drive(
        plan,
        lambda room, plan_id: room.change_plan(operations.force_task, plan_id, task),
        project,
        as_json,
        model,
    )


@app.command()
def retry(
    plan: PlanArgument,
    task: TaskArgument,
    model: ModelOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Begin a failed task again where it failed."""
    from callboard.packs.control_room.plans import operations

    return _drive(
        plan,
        lambda room, plan_id: room.change_plan(operations.retry_task, plan_id, task),
        project,
        as_json,
        model,
    )


def _change(
    work: "Callable[[ControlRoom], Awaitable[Plan]]",
    project: Path | None,
    as_json: bool,
    model: str | None = None,
) -> int:
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.control_room.plans.working import change_plan

    return change_plan(Choices(project, model=model, as_json=as_json), work)


def _drive(
    plan: str,
    begin: "Callable[[ControlRoom, str], Awaitable[Plan]]",
    project: Path | None,
    as_json: bool,
    model: str | None,
) -> int:
    from callboard.cli.handlers.opening import Choices
    from callboard.packs.control_room.plans.working import drive_plan

    return drive_plan(Choices(project, model=model, as_json=as_json), plan, begin)

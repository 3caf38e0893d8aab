"""Plans at the command line: changed, or worked through while the user watches."""

import asyncio
from collections.abc import Awaitable, Callable

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.ending import tell_question
from callboard.cli.handlers.following import follow
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import echo_json_line, remark
from callboard.cli.reports.shapes import question_shape
from callboard.core.canonical import Json
from callboard.core.vocabulary import Plan, PlanState, TaskState
from callboard.core.vocabulary.run import Answer
from callboard.packs.control_room.plans.tell import plan_report
from callboard.packs.control_room.room import ControlRoom
from callboard.studio.plan_progress import running_task
from callboard.studio.plans import plan_to_json
from callboard.studio.studio import Studio

_EXITS = {PlanState.DONE: exits.OK, PlanState.FAILED: exits.FAILED}

Begin = Callable[[ControlRoom, str], Awaitable[Plan]]


def change_plan(choices: Choices, change: Callable[[ControlRoom], Awaitable[Plan]]) -> int:
    """Change a plan and show it as it is then."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(choices) as here:
            plan_report(await change(ControlRoom(here.studio)), as_json=choices.as_json)
        return exits.OK

    return perform(work)


def drive_plan(choices: Choices, plan_id: str, begin: Begin) -> int:
    """Begin something with a plan, then watch it until it rests or the user lets go."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            room = ControlRoom(here.studio)
            plan = await begin(room, here.studio.plans.get(plan_id).id)
            plan, questions = await _watch(here, room, plan, interrupt)
            if interrupt.asked.is_set() and not choices.as_json:
                remark(f"Let go of the plan: `callboard plan resume {plan.id}` takes it up.")
            elif choices.as_json:
                asked: list[Json] = [question_shape(each) for each in questions]
                # The last line of a stream of events, as of every command that follows a run.
                echo_json_line({"plan": plan_to_json(plan), "questions": asked})
            else:
                plan_report(plan, as_json=False)
                _tell_what_it_waits_for(plan, questions, here.studio)
            if interrupt.asked.is_set():
                return exits.INTERRUPTED
            return exits.WAITING if questions else _exit_code(plan)

    return perform(work)


def _tell_what_it_waits_for(plan: Plan, questions: tuple[Answer, ...], studio: Studio) -> None:
    for question in questions:
        tell_question(question, studio)
    running = running_task(plan)
    if running is not None and not questions:
        remark(f"Its run is paused. Let it go on: callboard runs resume {running.run_id}")
    elif questions:
        remark(f"Afterwards go on with: callboard plan resume {plan.id}")


async def _watch(
    here: OpenWork, room: ControlRoom, plan: Plan, interrupt: Interrupt
) -> tuple[Plan, tuple[Answer, ...]]:
    """Work through a plan; return it with what one of its runs asks somebody who is not here."""
    driving = asyncio.create_task(room.director.drive(plan.id))
    shown: set[str] = set()
    try:
        # The director takes up what nobody executes, stores the next run, or ends, in its own time.
        while not (await asyncio.wait({driving}, timeout=0.05))[0]:
            running = running_task(here.studio.plans.get(plan.id))
            run_id = running.run_id if running is not None else None
            if running is not None and run_id is not None and run_id not in shown:
                shown.add(run_id)
                if not here.choices.as_json:
                    remark(f"\nTask {running.id}: {running.description}")
                followed = await follow(here.studio, run_id, here.view(), interrupt)
                if followed.questions:
                    return here.studio.plans.get(plan.id), followed.questions
            if interrupt.asked.is_set():
                return here.studio.plans.get(plan.id), ()
        return await driving, ()
    finally:
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)


def _exit_code(plan: Plan) -> int:
    if plan.state in _EXITS:
        return _EXITS[plan.state]
    if any(task.state is TaskState.FAILED for task in plan.tasks):
        return exits.FAILED
    return exits.WAITING

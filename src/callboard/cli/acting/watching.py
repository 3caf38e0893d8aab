"""Looking on while another process executes a run, without ever taking it up."""

import asyncio
from typing import Final

from callboard.cli.acting.ending import conclude, exit_code_of
from callboard.cli.acting.following import Followed, follow, open_questions
from callboard.cli.acting.opening import Choices, Work, working
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import remark
from callboard.core.vocabulary.run import RunState

_LOOK_SECONDS: Final = 0.5


def watch_run(choices: Choices, name: str) -> int:
    """Show a run from its beginning to its end, or as far as it gets; return its exit code."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            run = here.find(name)
            looking = asyncio.create_task(_leave_when_deserted(here, run.id, interrupt))
            try:
                followed = await follow(here.studio, run.id, here.view(), interrupt, may_ask=False)
            finally:
                looking.cancel()
            return _end(here, followed)

    return perform(work)


def _end(here: Work, followed: Followed) -> int:
    run = followed.run
    if here.choices.as_json or run.is_terminal or not followed.was_interrupted:
        return conclude(here.studio, followed, as_json=here.choices.as_json)
    if _is_deserted(here, run.id):
        remark(f"Nobody executes run {run.id} any more; its finished steps are kept.")
        remark(f"  Go on with: callboard runs resume {run.id}")
    else:
        remark(f"Run {run.id} goes on; to see it again: callboard runs watch {run.id}")
    return exit_code_of(followed)


async def _leave_when_deserted(here: Work, run_id: str, interrupt: Interrupt) -> None:
    was_deserted = False
    while True:
        is_deserted = _is_deserted(here, run_id)
        # A run that changes hands is nobody's for a moment, so one look is not enough.
        if is_deserted and was_deserted:
            interrupt.asked.set()
            return
        was_deserted = is_deserted
        await asyncio.sleep(_LOOK_SECONDS)


def _is_deserted(here: Work, run_id: str) -> bool:
    """Say whether a run should be going on although no living process has it."""
    run = here.studio.engine.load(run_id)
    is_answered = run.state is RunState.WAITING and not open_questions(here.studio, run_id)
    is_going = is_answered or run.state in (RunState.PENDING, RunState.RUNNING)
    return is_going and not here.owners.executes(run)

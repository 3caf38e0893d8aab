"""Phase A: a tool is run with what the task and earlier slots say. No model is asked."""

from contextlib import nullcontext

from callboard.choreography.cards import EXECUTING, showing
from callboard.choreography.recipe.definition import ToolStep, key_of, resolve
from callboard.choreography.recipe.errors import RefResolutionError
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import pointer_from
from callboard.choreography.staffing import CHIEF
from callboard.choreography.tooling import ToolUse, use_tool
from callboard.choreography.values import pack_of
from callboard.core.vocabulary import StepKind


async def gather(play: Play, step: ToolStep) -> None:
    """Run one tool and fill its slot with a pointer to the receipt."""
    key = key_of(step)
    try:
        args = resolve(dict(step.args), play.slots.roots())
    except RefResolutionError as error:
        await play.fail(key, error, StepKind.TOOL)
    await play.turn.ready(key)
    chief = None if play.run.holds(key) else _chief(play)
    with showing(play.studio, play.run, chief, EXECUTING, key) if chief else nullcontext():
        use = ToolUse(key, step.tool, args, step.output_slot)
        outcome = await use_tool(play.studio, play.run, use)
    play.slots.put(step.output_slot, pointer_from(outcome))


def _chief(play: Play) -> str | None:
    """Return whose card shows that tools run: the Chief's, if the staff has one."""
    staff = play.studio.repertoire.staff(pack_of(play.run))
    return next((agent.id for agent in staff if agent.contract.archetype == CHIEF), None)

"""The runner: follows a recipe step by step. It does not think, and it does not try again."""

from callboard.choreography.grounding import Grounding
from callboard.choreography.holdups import Holdups
from callboard.choreography.recipe.running.committing import commit_all
from callboard.choreography.recipe.running.finishing import check_done
from callboard.choreography.recipe.running.gathering import gather
from callboard.choreography.recipe.running.making import make
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import Slots
from callboard.choreography.recipe.running.turns import Turns
from callboard.choreography.recipe.task import Assignment
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.engine.run import Run
from callboard.studio.studio import Studio


async def play_recipe(studio: Studio, run: Run, turns: Turns, grounding: Grounding | None) -> Json:
    """Execute a run: phase A, phase B, commit, definition of done."""
    assignment = Assignment.from_args(run.args)
    async with turns.of(run, is_users_own=assignment.is_users_own) as turn:
        stage = Stage(studio, run, Holdups(studio.accounts, studio.settings, aside=turn.aside))
        play = Play(stage, assignment, Slots(assignment), turn, grounding)
        for tool_step in assignment.recipe.phase_a:
            await gather(play, tool_step)
        for agent_step in assignment.recipe.phase_b:
            await make(play, agent_step)
        committed = await commit_all(play)
        results = await check_done(play)
    return {
        "recipe_id": assignment.recipe.recipe_id,
        "committed": [
            {name: value for name, value in each.items() if name not in ("text", "diff")}
            for each in committed
        ],
        "dod_results": results,
    }

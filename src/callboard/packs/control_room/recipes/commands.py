"""`callboard recipes` and `callboard route`: the recipes in force, and which a request is for."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from callboard.choreography.recipe import RecipeShelf, shelved_to_json
from callboard.choreography.recipe.definition import AgentStep
from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.opening import Choices, working
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json, echo_table, remark
from callboard.packs.control_room.room import ControlRoom

app = new_app("Recipes: the ones in force, where they come from, what is wrong with them.")
route_app = new_app("Say which recipe a request is for, without running it.")


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List the recipes in force; one of your own replaces the bundled one of its id."""

    def report(recipes: RecipeShelf) -> int:
        shelves = recipes.library.shelves()
        found = recipes.library.recipes()
        if as_json:
            warnings = [str(each) for each in shelves.warnings]
            echo_json({"recipes": [shelved_to_json(each) for each in found], "warnings": warnings})
            return exits.OK
        rows = [(r.recipe.recipe_id, r.source, r.recipe.label) for r in found]
        echo_table(("RECIPE", "SOURCE", "WHAT IT DOES"), rows)
        for warning in shelves.warnings:
            remark(f"Warning: {warning}")
        return exits.OK

    return _with_recipes(project, report)


@app.command()
def show(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="Id of a recipe.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show a recipe; with --json in the form in which one of your own is written."""

    def report(recipes: RecipeShelf) -> int:
        found = recipes.library.get(recipe).recipe
        if as_json:
            echo_json(found.to_json())
            return exits.OK
        echo(f"{found.recipe_id}: {found.label}")
        echo(f"Say: {', '.join(found.task_patterns)}")
        if found.required_args:
            echo(f"Needs: {', '.join(found.required_args)}")
        echo("")
        rows = [
            (
                step.step_id,
                f"{step.agent_archetype}: {step.prompt_type}"
                if isinstance(step, AgentStep)
                else step.tool,
                step.output_slot,
            )
            for step in found.steps
        ]
        echo_table(("STEP", "WHO", "SLOT"), rows)
        return exits.OK

    return _with_recipes(project, report)


@route_app.command()
def route(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What you want, in words.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Say which recipe a request is for, with the arguments its words give."""

    def report(recipes: RecipeShelf) -> int:
        found = recipes.router.route(request)
        if as_json:
            echo_json(found.to_json())
        else:
            echo(str(found))
        return exits.OK if found.routable else exits.FAILED

    return _with_recipes(project, report)


def _with_recipes(project: Path | None, report: Callable[[RecipeShelf], int]) -> int:
    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project)) as here:
            return report(ControlRoom(here.studio).recipes)

    return perform(work)

"""Recipes at the command line: listed, shown, found for a request."""

from collections.abc import Callable
from pathlib import Path

from callboard.choreography.recipe import RecipeShelf, shelved_to_json
from callboard.choreography.recipe.definition import AgentStep
from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import echo, echo_json, echo_table, remark
from callboard.cli.work.opening import Choices, working
from callboard.packs.control_room.house import House


def list_recipes(project: Path | None, *, as_json: bool) -> int:
    """Print the recipes in force, and what keeps others from being so."""

    def report(shelf: RecipeShelf) -> int:
        shelves = shelf.library.shelves()
        found = shelf.library.recipes()
        if as_json:
            warnings = [str(each) for each in shelves.warnings]
            echo_json({"recipes": [shelved_to_json(each) for each in found], "warnings": warnings})
            return exits.OK
        rows = [(r.recipe.recipe_id, r.source, r.recipe.label) for r in found]
        echo_table(("RECIPE", "SOURCE", "WHAT IT DOES"), rows)
        for warning in shelves.warnings:
            remark(f"Warning: {warning}")
        return exits.OK

    return _with_shelf(project, report)


def show_recipe(project: Path | None, recipe_id: str, *, as_json: bool) -> int:
    """Print one recipe, step by step."""

    def report(shelf: RecipeShelf) -> int:
        recipe = shelf.library.get(recipe_id).recipe
        if as_json:
            echo_json(recipe.to_json())
            return exits.OK
        echo(f"{recipe.recipe_id}: {recipe.label}")
        echo(f"Say: {', '.join(recipe.task_patterns)}")
        if recipe.required_args:
            echo(f"Needs: {', '.join(recipe.required_args)}")
        echo("")
        rows = [
            (
                step.step_id,
                f"{step.agent_archetype}: {step.prompt_type}"
                if isinstance(step, AgentStep)
                else step.tool,
                step.output_slot,
            )
            for step in recipe.steps
        ]
        echo_table(("STEP", "WHO", "SLOT"), rows)
        return exits.OK

    return _with_shelf(project, report)


def route_request(project: Path | None, request: str, *, as_json: bool) -> int:
    """Print which recipe a request is for; none is a failure."""

    def report(shelf: RecipeShelf) -> int:
        found = shelf.router.route(request)
        if as_json:
            echo_json(found.to_json())
        else:
            echo(str(found))
        return exits.OK if found.routable else exits.FAILED

    return _with_shelf(project, report)


def _with_shelf(project: Path | None, report: Callable[[RecipeShelf], int]) -> int:
    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project)) as here:
            return report(House(here.studio).shelf)

    return perform(work)

"""`callboard recipes`: the recipes in force, bundled and your own."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app

app = new_app("Recipes: the ones in force, where they come from, what is wrong with them.")


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """List the recipes in force; one of your own replaces the bundled one of its id."""
    from callboard.packs.control_room.recipes.tell import list_recipes

    return list_recipes(project, as_json=as_json)


@app.command()
def show(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="Id of a recipe.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show a recipe; with --json in the form in which one of your own is written."""
    from callboard.packs.control_room.recipes.tell import show_recipe

    return show_recipe(project, recipe, as_json=as_json)

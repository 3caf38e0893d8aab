"""Recipes, and which of them a request is for."""

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, Wanted
from callboard.choreography.recipe import shelved_to_json
from callboard.packs.control_room.request import ControlRoom
from callboard.tools import off_loop

router = APIRouter(tags=["recipes"])


class RecipeShape(Shown):
    """A recipe in force, where it comes from, and what is wrong with it."""

    recipe_id: str
    label: str
    source: str


class RoutingShape(Shown):
    """What became of a request."""

    recipe_id: str | None
    initial_args: Entry
    routable: bool
    reason: str


class RouteWanted(Wanted):
    """A request in the user's words."""

    description: str = Field(min_length=1, max_length=20_000)


@router.get("/recipes")
async def list_recipes(house: ControlRoom, page: Paged) -> list[RecipeShape]:
    """List the recipes in force, the project's own included."""
    found = page.cut(house.shelf.library.recipes())
    return [RecipeShape.model_validate(shelved_to_json(each)) for each in found]


@router.get("/recipes/{recipe_id}")
async def show_recipe(house: ControlRoom, recipe_id: str) -> Entry:
    """Show a recipe whole."""
    shelved = house.shelf.library.get(recipe_id)
    return {**shelved_to_json(shelved), "recipe": shelved.recipe.to_json()}


@router.post("/route")
async def route(house: ControlRoom, wanted: RouteWanted) -> RoutingShape:
    """Say which recipe a request is for, and which arguments its words give."""
    found = await off_loop(house.shelf.router.route, wanted.description)
    return RoutingShape.model_validate(found.to_json())

"""`task_router`: which recipe a request is for, as a tool. Thin: the router decides."""

from typing import Final

from pydantic import Field

from callboard.choreography.recipe import RecipeLibrary, Router
from callboard.library.story.index import story_index
from callboard.packs.control_room.grounds import FOLDER
from callboard.packs.control_room.seeding import seeds_from
from callboard.tools import ToolArgs, ToolContext, ToolResult, tool

_MAX_CHARS: Final = 2_000


class TaskRouterArgs(ToolArgs):
    """What the user wants to have done."""

    user_request: str = Field(min_length=1, max_length=_MAX_CHARS)


@tool()
def task_router(context: ToolContext, args: TaskRouterArgs) -> ToolResult:
    """Say which recipe a request is for, with the arguments its words give."""
    kept = context.files.kept
    project = None if kept is None else kept / "recipes"
    library = context.kept.get("task_router", lambda: RecipeLibrary(FOLDER / "recipes", project))
    router = Router(library, lambda text, recipe: seeds_from(story_index(context), text, recipe))
    routing = router.route(args.user_request)
    preview = f"{routing.recipe_id}: {routing.reason}" if routing.routable else str(routing)
    return ToolResult(routing.to_json(), preview, str(routing))

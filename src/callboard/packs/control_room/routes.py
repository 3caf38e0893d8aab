"""Routes of recipes and of chat, and what all routes of Control Room share."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import ConfigDict, Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, Wanted
from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.recipe import shelved_to_json
from callboard.packs.control_room.room import ControlRoom, room_of
from callboard.tools import off_loop

recipes = APIRouter(tags=["recipes"])
chats = APIRouter(prefix="/ai/chat", tags=["chat"])


async def _of_request(studio: OpenStudio) -> ControlRoom:
    return room_of(studio)


OpenRoom = Annotated[ControlRoom, Depends(_of_request)]


class PolicyWanted(Wanted):
    """What the Chief may call in the first phase; no tools named means all."""

    allowed_tools: list[str] = Field(default_factory=list[str])
    require_tool: bool = False

    def policy(self) -> ToolPolicy:
        """Return it as the machinery has it."""
        return ToolPolicy(tuple(self.allowed_tools), self.require_tool)


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


@recipes.get("/recipes")
async def list_recipes(room: OpenRoom, page: Paged) -> list[RecipeShape]:
    """List the recipes in force, the project's own included."""
    found = page.cut(room.recipes.library.recipes())
    return [RecipeShape.model_validate(shelved_to_json(each)) for each in found]


@recipes.get("/recipes/{recipe_id}")
async def show_recipe(room: OpenRoom, recipe_id: str) -> Entry:
    """Show a recipe whole."""
    shelved = room.recipes.library.get(recipe_id)
    return {**shelved_to_json(shelved), "recipe": shelved.recipe.to_json()}


@recipes.post("/route")
async def route(room: OpenRoom, wanted: RouteWanted) -> RoutingShape:
    """Say which recipe a request is for, and which arguments its words give."""
    found = await off_loop(room.recipes.router.route, wanted.description)
    return RoutingShape.model_validate(found.to_json())


class ChatMessageWanted(Wanted):
    """Something to say to an agent."""

    agent_id: str = Field(min_length=1)
    message: str = Field(min_length=1, max_length=100_000)
    skip_tools: bool = Field(default=False, alias="skipTools")
    tool_policy: PolicyWanted | None = Field(default=None, alias="toolPolicy")
    session_id: str | None = None

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class ChatAnswer(Shown):
    """What the agent answered."""

    run_id: str
    agent_id: str
    text: str


@chats.post("")
async def say(room: OpenRoom, wanted: ChatMessageWanted) -> ChatAnswer:
    """Say something to an agent and wait for its answer."""
    policy = wanted.tool_policy.policy() if wanted.tool_policy is not None else None
    answered = await room.chat(
        wanted.agent_id,
        wanted.message,
        skip_tools=wanted.skip_tools,
        policy=policy,
        session_id=wanted.session_id,
    )
    return ChatAnswer.model_validate(answered)


@chats.get("")
async def read(
    studio: OpenStudio,
    room: OpenRoom,
    page: Paged,
    agent_id: Annotated[str, Query(min_length=1)],
    session_id: str | None = None,
) -> list[Entry]:
    """Read what was said with an agent, oldest first."""
    session = studio.sessions.get(session_id) if session_id else await studio.sessions.current()
    return [each.to_json() for each in page.cut(room.conversation(agent_id, session.id))]

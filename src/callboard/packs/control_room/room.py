"""Control Room in an open studio: what the doors ask for, in one place."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Concatenate, Final, ParamSpec, cast

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.chat_exchanges import CHAT, ChatExchange, exchanges
from callboard.choreography.conference import Conferences
from callboard.choreography.director import Director
from callboard.choreography.planning import PlanMaker, check_wish
from callboard.choreography.recipe import Recipe, RecipeShelf, recipe_shelf
from callboard.choreography.recipe.definition import CommitAction
from callboard.choreography.staffing import find_agent
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, NotFound
from callboard.core.vocabulary import Plan, RunRecord
from callboard.library.story.index import story_index
from callboard.operations import Operation, Operations
from callboard.packs.control_room.evidence import PACK
from callboard.studio.runnable import result_of
from callboard.studio.studio import Studio

P = ParamSpec("P")

_MOST_SCENES: Final = 60
_log = logging.getLogger(__name__)


def plan_maker_of(studio: Studio) -> PlanMaker:
    """Return who makes plans for this project."""
    shelf = recipe_shelf(studio, PACK)

    def recipes() -> list[Recipe]:
        return [each.recipe for each in shelf.library.recipes()]

    def kinds_of_work() -> str:
        return "\n".join(
            f'- {recipe.label}: say "{recipe.task_patterns[0]}"'
            for recipe in recipes()
            if recipe.task_patterns
        )

    def makes(recipe_id: str) -> bool:
        found = shelf.library.find(recipe_id)
        return found is not None and any(
            each.action is CommitAction.WRITE_FILE for each in found.recipe.commit
        )

    return PlanMaker(shelf.router.route, kinds_of_work, lambda: _what_is_there(studio), makes)


def _what_is_there(studio: Studio) -> str:
    index = story_index(studio.tools.context(""))
    lines = [f"{len(index.scenes)} scenes, {len(index.canon)} canon cards"]
    outline = index.outline_tree
    if outline is not None:
        lines += [
            f"outline: scene {scene.number or scene.index}: {scene.title}"
            for scene in outline.entries[:_MOST_SCENES]
        ]
    lines += [
        f"written: scene {scene.label}: {scene.title} ({scene.path})"
        for scene in index.scenes[:_MOST_SCENES]
    ]
    return "\n".join(lines)


class ControlRoom:
    """The Control Room of one open project."""

    pack: Final = PACK

    def __init__(self, studio: Studio) -> None:
        """Take the studio; the rooms are made when first entered."""
        self.studio = studio
        # Plans that are being driven, by id; each drives until it rests.
        self._driving: dict[str, asyncio.Task[None]] = {}

    @cached_property
    def recipes(self) -> RecipeShelf:
        """The recipes in force, and the router over them."""
        return recipe_shelf(self.studio, PACK)

    @cached_property
    def conferences(self) -> Conferences:
        """The conferences."""
        return Conferences(self.studio, PACK)

    @cached_property
    def director(self) -> Director:
        """Who takes plans through their runs."""
        return Director(self.studio, plan_maker_of(self.studio))

    async def make_plan(self, intent: str, *, session_id: str | None = None) -> Plan:
        """Have a wish split into tasks and return the draft."""
        check_wish(intent)
        run = await self.studio.start(f"{PACK}/plan", {"intent": intent}, session_id=session_id)
        result = cast(dict[str, Any], await self._result(run))
        return self.studio.plans.get(result["plan_id"])

    async def change_plan(
        self,
        wanted: Operation[Concatenate[str, P], Plan],
        plan_id: str,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Plan:
        """Do something with a plan, on record in the session it belongs to."""
        try:
            session_id = self.studio.plans.get(plan_id).session_id
        except NotFound:
            session_id = None
        operations = Operations(self.studio, PACK, find)
        return await operations.perform_in(session_id, wanted, plan_id, *args, **kwargs)

    async def chat(
        self,
        agent: str,
        message: str,
        *,
        skip_tools: bool = False,
        policy: ToolPolicy | None = None,
        session_id: str | None = None,
    ) -> dict[str, Json]:
        """Say something to an agent and return its answer."""
        args: dict[str, Json] = {"agent": agent, "message": message, "skip_tools": skip_tools}
        if policy is not None:
            args |= policy.to_json()
        run = await self.studio.start(f"{PACK}/{CHAT}", args, session_id=session_id)
        return {"run_id": run.id, **cast(dict[str, Json], await self._result(run))}

    def conversation(self, agent: str, session_id: str) -> list[ChatExchange]:
        """Return what was said with an agent in a session."""
        found = find_agent(self.studio, agent, PACK)
        return self.studio.database.read(
            lambda connection: exchanges(connection, PACK, session_id, found.id)
        )

    def drive(self, plan_id: str) -> None:
        """Work through a plan in the background, unless somebody here does so already."""
        known = self._driving.get(plan_id)
        if known is None or known.done():
            self._driving[plan_id] = asyncio.create_task(self._drive(plan_id))

    async def take_up(self) -> None:
        """Go on with every plan that was running when the last process ended."""
        for plan in await self.director.reconcile_all():
            self.drive(plan.id)

    async def stop(self) -> None:
        """Stop driving; what runs is left to the engine, what was stored stays."""
        tasks = list(self._driving.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drive(self, plan_id: str) -> None:
        try:
            await self.director.drive(plan_id)
        except CallboardError as error:
            _log.warning("plan %s came to a halt: %s", plan_id, error)

    async def _result(self, run: RunRecord) -> Json:
        return await result_of(self.studio.engine, run)


def room_of(studio: Studio) -> ControlRoom:
    """Return the Control Room of an open project, made when it is first asked for."""
    return studio.keep(ControlRoom, ControlRoom)


def find(studio: Studio, kind: type[Any]) -> Director | Conferences:
    """Return what the operations on plans or conferences work on."""
    room = room_of(studio)
    return room.conferences if issubclass(Conferences, kind) else room.director


@asynccontextmanager
async def serving(studio: Studio) -> AsyncGenerator[None]:
    """Go on with plans for as long as a server runs."""
    room = room_of(studio)
    await room.take_up()
    try:
        yield
    finally:
        await room.stop()

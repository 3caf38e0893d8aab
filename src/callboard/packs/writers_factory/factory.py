"""Writers Factory in an open studio: what the doors ask for, in one place."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from functools import cached_property
from typing import Any, Final, ParamSpec, TypeVar

from callboard.core.canonical import Json
from callboard.core.vocabulary import RunRecord
from callboard.operations import Does, Operation, Operations, operation
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.foreman import Foreman
from callboard.packs.writers_factory.foreman.survey import open_foreman
from callboard.packs.writers_factory.manuscript import SceneVersion
from callboard.packs.writers_factory.memory import ConsolidationClock, Consolidator
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.modes.gates import Transition
from callboard.packs.writers_factory.modes.modes import WRITER
from callboard.packs.writers_factory.operations import operations_in
from callboard.packs.writers_factory.permission import (
    require_action,
    require_mode,
    require_ready,
)
from callboard.packs.writers_factory.revision.editing.edits import EditResult
from callboard.packs.writers_factory.revision.editing.requests import EditRequest, find_target
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.settings import SettingsRead, read_settings
from callboard.packs.writers_factory.voice.tournament.tournaments import Pick, Tournament
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.runnable import result_of
from callboard.studio.studio import Studio

P = ParamSpec("P")
R = TypeVar("R")

_FINISH: Final = "finish"
_ACCEPT: Final = "accept"
# A run waits for the same modes as the action that starts it, or one like it.
ACTION_OF: Final = {
    "accept": "write_scene",
    "analyze": "analyze_scene",
    "audit": "continuity_audit",
    "bundle": "generate_bundle",
    "enhance": "enhance_scene",
    "health": "run_health_check",
    "hybrid": "create_hybrid",
    "plan_scenes": "plan_scenes",
    "scaffold": "generate_scaffold",
    "tournament": "start_tournament",
    "voice_report": "voice_report",
    "write_scene": "write_scene",
}


class Factory:
    """The Writers Factory of one open project."""

    pack: Final = PACK

    def __init__(self, studio: Studio) -> None:
        """Take the studio; the rooms are opened when first entered."""
        self.studio = studio
        self.workspace = Workspace(studio)

    @cached_property
    def rooms(self) -> Rooms:
        """Everything a book is made in."""
        return Rooms.open(self.workspace)

    @cached_property
    def foreman(self) -> Foreman:
        """The one agent the writer talks to."""
        return open_foreman(self.workspace, self.rooms)

    @cached_property
    def consolidator(self) -> Consolidator:
        """Who brings soft facts into the graph."""
        return Consolidator(self.workspace)

    @cached_property
    def clock(self) -> ConsolidationClock:
        """Consolidates every now and then, for as long as a server runs."""
        return ConsolidationClock(self.consolidator)

    @property
    def is_used(self) -> bool:
        """Whether this project is a book: made for the pack, or described as one."""
        is_chosen = self.studio.settings.pack == PACK
        return is_chosen or bool(ProjectRecord(self.workspace).read().id)

    def settings(self) -> SettingsRead:
        """Return the settings in force, and what is wrong in the project's own file."""
        return read_settings(self.studio.project.folder)

    def problems(self) -> tuple[str, ...]:
        """Return everything in the writer's files that cannot be used."""
        bundle = self.rooms.voice.bundle()
        return (
            *self.settings().warnings,
            *self.foreman.problems(),
            *self.rooms.manuscript.problems(),
            *(bundle.problems if bundle is not None else ()),
        )

    @cached_property
    def operations(self) -> Operations:
        """What has the operations of the pack done in this project."""
        return operations_in(self.studio)

    async def perform(self, wanted: Operation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Have the writer's wish done, with a receipt of whatever it changes."""
        return await self.operations.perform(wanted, *args, **kwargs)

    async def start(
        self,
        name: str,
        args: Mapping[str, Json] | None = None,
        *,
        session_id: str | None = None,
        is_sure: bool = False,
    ) -> RunRecord:
        """Start one of the pack's runs, if the book has reached a mode it belongs to.

        With `is_sure` what could only fail is refused instead of being started.
        """
        # What names no session of the project has no chain to be put on record in.
        session = self.studio.sessions.get(session_id).id if session_id else None
        given = dict(args or {})
        run_id = await self.operations.perform_in(session, start_run, name, given, session, is_sure)
        return self.studio.engine.load(run_id)

    async def answer(self, run: RunRecord) -> Json:
        """Wait for a run and return its result; its failure is raised as what it was."""
        return await result_of(self.studio.engine, run)

    def require(self, action: str) -> None:
        """Refuse the work of an action while the book has not reached a mode it belongs to."""
        require_action(self.foreman.catalogue, self.rooms.modes, action)

    def require_run(self, name: str) -> None:
        """Refuse a run while the book has not reached a mode it belongs to."""
        modes = self.rooms.modes
        if name == _FINISH:
            # A book is closed in the last mode of work.
            require_mode(modes, [modes.table.modes[-2].id], "Completion")
        action = ACTION_OF.get(name)
        if action is not None:
            self.require(action)


def factory_of(studio: Studio) -> Factory:
    """Return the Writers Factory of an open project, made when it is first asked for."""
    return studio.keep(Factory, Factory)


def find(studio: Studio, kind: type[Any]) -> Any:
    """Return what an operation works on: the whole book, or the room of one noun."""
    factory = factory_of(studio)
    if kind is Factory:
        return factory
    if kind is Workspace:
        return factory.workspace
    if kind is Consolidator:
        return factory.consolidator
    rooms = (getattr(factory.rooms, each.name) for each in fields(factory.rooms))
    return next(room for room in rooms if type(room) is kind)


@operation(does=Does.ONCE)
async def start_run(
    factory: Factory,
    name: str,
    args: dict[str, Json],
    session_id: str | None = None,
    is_sure: bool = False,
) -> str:
    """Start one of the pack's runs, and return its id."""
    factory.require_run(name)
    if is_sure:
        require_ready(factory.workspace, factory.rooms, name, args)
        if name == _ACCEPT and not args.get("force"):
            scene_id, variant_id = str(args["scene_id"]), str(args["variant_id"])
            await factory.rooms.scenes.require_proven(scene_id, variant_id)
    return (await factory.studio.start(f"{PACK}/{name}", args, session_id=session_id)).id


@operation(undo="undo_edit")
async def edit_text(factory: Factory, request: EditRequest) -> EditResult:
    """Make an edit of the writer's: of a scene once scenes are written, else at any time."""
    if find_target(factory.workspace, factory.rooms.manuscript, request.target).is_prose:
        factory.require("write_scene")
    return await factory.rooms.revision.edits.apply(request)


@operation(undo="undo_scene")
async def take_variant(factory: Factory, scene_id: str, variant_id: str) -> SceneVersion:
    """Take a draft as a scene's text, once the book has reached the mode for it."""
    factory.require("select_variant")
    factory.rooms.manuscript.scene(scene_id)
    return await factory.rooms.scenes.select(scene_id, variant_id)


@operation()
async def choose_winner(
    factory: Factory, tournament_id: str, pick: Pick, notes: str = "", confirmed: bool = False
) -> Tournament:
    """Choose the passage the book is to sound like."""
    factory.require("select_winner")
    return await factory.rooms.voice.select_winner(
        tournament_id, pick, notes=notes, confirmed=confirmed
    )


@operation()
async def reopen_book(factory: Factory) -> Transition:
    """Take a complete manuscript up again, by the writer's word; what was exported stays."""
    await factory.rooms.revision.reopen(by=WRITER)
    modes = factory.rooms.modes
    if modes.is_complete():
        return await modes.reopen(by=WRITER)
    # The book was taken back to an earlier mode already.
    return Transition(modes.current(), modes.current())


@asynccontextmanager
async def serving(studio: Studio) -> AsyncGenerator[None]:
    """Consolidate every now and then for as long as a server runs, if the project is a book."""
    factory = factory_of(studio)
    if factory.is_used:
        factory.clock.start()
    try:
        yield
    finally:
        await factory.clock.stop()

"""Writers Factory in an open studio: what the doors ask for, in one place."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.vocabulary import RunRecord
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.foreman import Foreman
from callboard.packs.writers_factory.foreman.wiring import Rooms, open_foreman
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Version
from callboard.packs.writers_factory.memory import ConsolidationClock, Consolidator
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.modes.modes import WRITER
from callboard.packs.writers_factory.modes.values import Transition
from callboard.packs.writers_factory.permission import (
    require_acceptable,
    require_action,
    require_mode,
)
from callboard.packs.writers_factory.revision.completion.binding import FORMATS
from callboard.packs.writers_factory.revision.completion.export import (
    BookFacts,
    Export,
    export_manuscript,
)
from callboard.packs.writers_factory.revision.editing.edits import EditResult
from callboard.packs.writers_factory.revision.editing.requests import EditRequest
from callboard.packs.writers_factory.revision.editing.targets import find_target
from callboard.packs.writers_factory.settings import SettingsRead, read_settings
from callboard.studio.runnable import result_of
from callboard.studio.studio import Studio

_FINISH: Final = "finish"
# A run no action stands for waits for the same modes as another.
_AS_IF: Final = {"accept": "write_scene"}


class Factory:
    """The Writers Factory of one open project."""

    pack: Final = PACK

    def __init__(self, studio: Studio) -> None:
        """Take the studio; the rooms are opened when first entered."""
        self.studio = studio
        self.ground = Ground(studio)

    @cached_property
    def rooms(self) -> Rooms:
        """Everything a book is made in."""
        return Rooms.open(self.ground)

    @cached_property
    def foreman(self) -> Foreman:
        """The one agent the writer talks to."""
        return open_foreman(self.ground, self.rooms)

    @cached_property
    def consolidator(self) -> Consolidator:
        """Who brings soft facts into the graph."""
        return Consolidator(self.ground)

    @cached_property
    def clock(self) -> ConsolidationClock:
        """Consolidates every now and then, for as long as a server runs."""
        return ConsolidationClock(self.consolidator)

    @property
    def is_used(self) -> bool:
        """Whether this project is a book: made for the pack, or described as one."""
        is_chosen = self.studio.settings.pack == PACK
        return is_chosen or bool(ProjectRecord(self.ground).read().id)

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

    async def start(
        self, name: str, args: dict[str, Any] | None = None, *, session_id: str | None = None
    ) -> RunRecord:
        """Start one of the pack's runs, if the book has reached a mode it belongs to."""
        self._require_run(name)
        given: dict[str, Json] = dict(args or {})
        return await self.studio.start(f"{PACK}/{name}", given, session_id=session_id)

    async def answer(self, run: RunRecord) -> Json:
        """Wait for a run and return its result; its failure is raised as what it was."""
        return await result_of(self.studio.engine, run)

    def require(self, action: str) -> None:
        """Refuse the work of an action while the book has not reached a mode it belongs to."""
        require_action(self.foreman.catalogue, self.rooms.modes, action)

    def _require_run(self, name: str) -> None:
        modes = self.rooms.modes
        if name == _FINISH:
            # A book is closed in the last mode of work.
            require_mode(modes, [modes.table.modes[-2].id], "Completion")
        for action in self.foreman.catalogue.actions.values():
            if action.run == _AS_IF.get(name, name):
                self.require(action.name)

    def require_acceptable(self, scene_id: str, variant_id: str = "") -> None:
        """Refuse to accept a text with zero-tolerance phrases nobody waived."""
        require_acceptable(self.ground, scene_id, variant_id)

    async def edit(self, request: EditRequest) -> EditResult:
        """Make an edit of the writer's: of a scene once scenes are written, else at any time."""
        if find_target(self.ground, self.rooms.manuscript, request.target).is_prose:
            self.require("write_scene")
        return await self.rooms.revision.edits.apply(request)

    async def select(self, scene_id: str, variant_id: str) -> Version:
        """Take a draft as a scene's text, once the book has reached the mode for it."""
        self.require("select_variant")
        self.rooms.manuscript.scene(scene_id)
        return await self.rooms.scenes.select(scene_id, variant_id)

    async def export(self, author: str = "", formats: Sequence[str] = tuple(FORMATS)) -> Export:
        """Write the manuscript as it is now; the book goes on being worked on."""
        revision = self.rooms.revision
        facts = BookFacts.of(revision.story(), author)
        return await export_manuscript(self.ground, facts, revision.texts(), formats)

    async def reopen(self) -> Transition:
        """Take a complete manuscript up again, by the writer's word; what was exported stays."""
        await self.rooms.revision.reopen(by=WRITER)
        modes = self.rooms.modes
        if modes.is_complete():
            return await modes.reopen(by=WRITER)
        # The book was taken back to an earlier mode already.
        return Transition(modes.current(), modes.current())


def factory_of(studio: Studio) -> Factory:
    """Return the Writers Factory of an open project, made when it is first asked for."""
    return studio.keep(Factory, Factory)


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

"""The foundry: everything of QuestFoundry in an open project, as its doors and loops enter it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from callboard.choreography.loop import (
    LoopRegistry,
    extend_registry,
    installed_folders,
    load_loops,
)
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.library.story.contradiction import ConflictRules, read_rules
from callboard.packs.questfoundry.assembly.assembling import BookNames, assemble
from callboard.packs.questfoundry.beginning import BookPlan, first_parts
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.canon.graph import CanonGraph, TracedStatement
from callboard.packs.questfoundry.cold.folding import fold
from callboard.packs.questfoundry.cold.snapshot import Snapshot
from callboard.packs.questfoundry.cold.snapshots import ColdStore
from callboard.packs.questfoundry.roster import QuestCast
from callboard.packs.questfoundry.settings import QuestSettings, read_settings
from callboard.packs.questfoundry.shelf.shelf import Shelf, Shelving
from callboard.packs.questfoundry.story_hooks.ledger import HookLedger
from callboard.packs.questfoundry.units.ledger import UnitLedger
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.packs.questfoundry.waivers import WaiverLedger
from callboard.store.connection import Connection
from callboard.store.records import Records
from callboard.studio.studio import Studio

PACK: Final = "questfoundry"
OWN_LOOPS: Final = "loops"
# The entry points by which a distribution brings loops; each names a package of YAML files.
PLUG_INS: Final = "questfoundry.loops"
_FOLDER: Final = Path(__file__).parent
_PROJECT: Final = "project"
_LESSON: Final = "lesson"


class Foundry:
    """The QuestFoundry of one open project."""

    def __init__(self, studio: Studio) -> None:
        """Take the studio; what is kept is read when it is asked for."""
        self.studio = studio
        self.records = Records(studio.database, PACK, studio.clock)
        place = (studio.database, self.records, studio.clock)
        self.units = UnitLedger(*place)
        self.hooks = HookLedger(*place)
        self.shelf = Shelf(*place)
        self.waivers = WaiverLedger(*place)
        canon = CanonGraph(studio.knowledge, self.rules)
        self.cold = ColdStore(*place, self.units, self.hooks, self.shelf, canon)

    @cached_property
    def settings(self) -> QuestSettings:
        """The settings in force."""
        return read_settings(self.studio.project.folder).values

    @cached_property
    def rules(self) -> ConflictRules:
        """What contradicts what, with the project's own additions."""
        return read_rules(self.studio.project.folder)

    @cached_property
    def cast(self) -> QuestCast:
        """Who works here."""
        return QuestCast(self.settings.roles.overrides)

    @property
    def own_loops(self) -> Path:
        """Where a project keeps loops of its own, one file each."""
        return self.studio.project.folder / OWN_LOOPS

    @property
    def registry(self) -> LoopRegistry:
        """The loops of this project: the pack's, those of plug-ins, and the project's own."""
        return self._loops[0]

    @property
    def loop_problems(self) -> tuple[str, ...]:
        """What is wrong with loops of plug-ins or of the project's own; those are left out."""
        return self._loops[1]

    @cached_property
    def _loops(self) -> tuple[LoopRegistry, tuple[str, ...]]:
        return read_own(self.own_loops)

    @property
    def plan(self) -> BookPlan | None:
        """What the book shall be; None before anybody began it."""
        body = self.records.get(_PROJECT, _PROJECT)
        return None if body is None else BookPlan.from_json(body)

    async def begin(self, plan: BookPlan) -> BookPlan:
        """Begin the book: its plan, a first style guide and an empty snapshot.

        Once somebody has described the book it stays as it is. A book that began undescribed takes
        the first description, and keeps its IFID.
        """

        def act(connection: Connection) -> BookPlan:
            known = self.records.load(connection, _PROJECT, _PROJECT)
            if known is None:
                self.records.store(connection, _PROJECT, _PROJECT, plan.to_json())
                self._found(connection, plan)
                return plan
            held = BookPlan.from_json(known)
            if not held.is_usual(self.studio) or held.says_the_same(plan):
                return held
            described = replace(plan, ifid=held.ifid)
            self.records.store(connection, _PROJECT, _PROJECT, described.to_json())
            tip = self.cold.load_tip(connection)
            if tip is None or (tip.parent is None and not tip.tus):
                self._found(connection, described)
            return described

        return await self.studio.database.write(act)

    def _found(self, connection: Connection, plan: BookPlan) -> None:
        parts = first_parts(plan)
        first = self.cold.found(connection, parts)
        for part in parts:
            made = Shelving(part.kind, part.body, "", "", "", "", sot="cold")
            self.shelf.put(connection, made)
        self.shelve_snapshot(connection, first)

    async def describe(self, change: Callable[[BookPlan], BookPlan]) -> BookPlan:
        """Change what is said about the book; no snapshot is touched."""
        await self.begun()

        def act(connection: Connection) -> BookPlan:
            known = self.records.load(connection, _PROJECT, _PROJECT)
            plan = change(BookPlan.from_json(known or {}))
            self.records.store(connection, _PROJECT, _PROJECT, plan.to_json())
            return plan

        return await self.studio.database.write(act)

    async def begun(self) -> BookPlan:
        """Return what the book shall be; one that nobody planned begins with what is usual."""
        return self.plan or await self.begin(BookPlan.usual(self.studio))

    def shelve_snapshot(self, connection: Connection, snapshot: Snapshot) -> None:
        """Put a snapshot among the artifacts, under its own name."""
        self.shelf.put(
            connection,
            Shelving(
                "cold_snapshot",
                snapshot.body(),
                "",
                "gatecheck",
                "",
                "",
                sot="cold",
                artifact_id=f"cold_snapshot.{snapshot.id}",
            ),
        )

    def page(self) -> BookNames:
        """Return what stands on the title page."""
        plan = self.plan or BookPlan()
        return BookNames(plan.title, plan.ifid, plan.author, plan.language)

    def cold_book(self, snapshot: Snapshot) -> Book:
        """Return the book of a snapshot."""
        return assemble(self.cold.contents(snapshot), self.page())

    def book_with(self, units: Sequence[WorkUnit]) -> Book:
        """Return the book as it would be if some units were merged into Cold."""
        return assemble(self.held_with(units), self.page())

    def behind(self, unit: WorkUnit) -> list[WorkUnit]:
        """Return the units not yet merged whose drafts a unit started from, and the unit itself."""
        found: dict[str, WorkUnit] = {}
        seen: set[str] = set()

        def follow(each: WorkUnit) -> None:
            seen.add(each.id)
            for ref in each.inputs.values():
                maker = self.shelf.find(ref).tu_id
                if not maker or maker in seen:
                    continue
                before = self.units.find(maker)
                # What rests on merged work rests on Cold, which holds all that was behind it.
                if before.status is not UnitStatus.COLD_MERGED:
                    follow(before)
            found[each.id] = each

        follow(unit)
        return list(found.values())

    def held_with(self, units: Sequence[WorkUnit]) -> dict[str, dict[str, Any]]:
        """Return what Cold would hold if some units were merged."""

        def act(connection: Connection) -> dict[str, dict[str, Any]]:
            tip = self.cold.load_tip(connection)
            held = {} if tip is None else self.cold.load_contents(connection, tip)
            for unit in units:
                held = fold(held, self.cold.parts_of(connection, unit))
            return held

        return self.studio.database.read(act)

    def snapshot_named(self, name: str | None) -> Snapshot:
        """Return a snapshot by its id, or the newest."""
        found = self.cold.tip() if name in (None, "", "last") else self.cold.find(str(name))
        if found is None:
            raise NotFound(
                "There is no snapshot yet",
                fix="`callboard quest init` or `callboard quest import` makes one.",
            )
        return found

    def canon(self, snapshot: Snapshot | None = None) -> dict[str, TracedStatement]:
        """Return the canon of a snapshot, by default of the newest; empty before there is one."""

        def act(connection: Connection) -> dict[str, TracedStatement]:
            wanted = snapshot or self.cold.load_tip(connection)
            return {} if wanted is None else self.cold.canon.load(connection, wanted)

        return self.studio.database.read(act)

    def lessons(self, *names: str) -> list[str]:
        """Return what was learnt for some roles or loops, newest first, at most ten lines."""
        found = [
            str(each["text"])
            for each in self.records.all(_LESSON).values()
            if each["role_or_loop"] in names
        ]
        return list(reversed(found))[:10]

    def keep_lesson(self, connection: Connection, name: str, lesson: Mapping[str, Json]) -> None:
        """Keep a lesson that a human approved."""
        self.records.store(connection, _LESSON, name, lesson)


def read_registry() -> LoopRegistry:
    """Return the loops of the pack."""
    return LoopRegistry(load_loops([_FOLDER / "loops"]))


def read_own(folder: Path) -> tuple[LoopRegistry, tuple[str, ...]]:
    """Return the loops of the pack, of installed plug-ins and of a folder, and what is wrong."""
    installed, problems = installed_folders(PLUG_INS)
    registry, more = extend_registry(read_registry(), (*installed, folder))
    return registry, (*problems, *more)


def foundry_of(studio: Studio) -> Foundry:
    """Return the foundry of an open project, made when it is first asked for."""
    return studio.keep(Foundry, Foundry)


def find(studio: Studio, kind: type[Any]) -> Any:
    """Return what the operations on a book work on."""
    return foundry_of(studio)

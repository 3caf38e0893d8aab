"""Modes: where a book stands, which gates are open, and how it moves.

The mode is what is stored, never what an agent says. A gate is soft for the writer, who may insist
once everything missing was named, and hard for every agent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor
from typing import Final, Literal

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible import Bible, StatusReport, claim_status
from callboard.packs.writers_factory.bible.shapes import template_name
from callboard.packs.writers_factory.modes.gates import (
    GateItem,
    GateOverride,
    ModeGate,
    Neighbours,
    Overrides,
    Positions,
    Transition,
)
from callboard.packs.writers_factory.modes.predicates import (
    MEASURES,
    PREDICATES,
    ShownItem,
)
from callboard.packs.writers_factory.modes.specs import (
    FactoryMode,
    KnownNames,
    ModeGated,
    ModeTable,
    WritersDecision,
    load_modes,
)
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection

WRITER: Final = "writer"
EFFECTS: Final = frozenset({"freeze_first_draft", "export_manuscript", "store_health_report"})
_INSIST: Final = "Complete what is named, or ask again with override and say what you risk."
_AGENTS_WAIT: Final = "Complete what is named; only the writer may go on without it."

By = Literal["writer", "agent"]


@dataclass(frozen=True, slots=True)
class _Move:
    """A move that was asked for; `stored` is what the record said when it was judged."""

    stored: str
    now: FactoryMode
    target: FactoryMode
    by: By


class Modes:
    """The state machine of one project."""

    def __init__(
        self, workspace: Workspace, bible: Bible | None = None, neighbours: Neighbours | None = None
    ) -> None:
        """Take the open project and the rooms the gates look into."""
        self._workspace = workspace
        self.bible = bible or Bible(workspace)
        self._around = neighbours or Neighbours()
        self._positions = Positions(workspace)
        self._overrides = Overrides(workspace)
        # Read at once: a file that names something unknown is refused before anything happens.
        known = KnownNames(PREDICATES, MEASURES, EFFECTS)
        self.table: ModeTable = load_modes(known, workspace.studio.project.prompts)

    def current(self) -> str:
        """Return the mode the book is in."""
        return self._now().id

    def spec(self, mode: str | None = None) -> FactoryMode:
        """Return what is declared about a mode, or about the current one."""
        return self._now() if mode is None else self.table.get(mode)

    def next_mode(self) -> str | None:
        """Return the mode that follows the current one."""
        following = self.table.after(self._now())
        return None if following is None else following.id

    def gate(self, mode: str) -> ModeGate:
        """Return what stands before a mode: the gates of all modes before it."""
        return self._gate(self.table.get(mode), self._book())

    def unlocked(self) -> tuple[str, ...]:
        """Return the modes that may be entered now without insisting."""
        now, book = self._now(), self._book()
        return tuple(
            mode.id
            for mode in self.table.modes
            if mode.order <= now.order or self._gate(mode, book).is_open
        )

    def completion_pct(self, mode: str | None = None) -> int:
        """Return how far the book has come in a mode, or in the current one, from 0 to 100."""
        share = MEASURES[self.spec(mode).completion](self._book())
        return floor(100 * share)

    def overrides(self) -> tuple[GateOverride, ...]:
        """Return every override there ever was, oldest first."""
        return self._overrides.all()

    def override_lines(self) -> tuple[str, ...]:
        """Return what every prompt has to say about gates that were overridden."""
        return tuple(override.line for override in self._overrides.active())

    def history(self) -> tuple[Mapping[str, Json], ...]:
        """Return the moves of the book, oldest first."""
        return self._positions.read().history

    def is_complete(self) -> bool:
        """Say whether the writer marked the manuscript as complete."""
        return self._positions.read().is_marked_complete

    async def advance(
        self, to: str, *, by: By, override: bool = False, risk_note: str = ""
    ) -> Transition:
        """Move the book to another mode, forward through its gates or back.

        The first refusal names everything that is missing. Only after it, and only if nothing
        else is missing by then, may the writer insist.
        """
        await self.settle()
        stored = self._positions.read().mode
        now, target = self._named(stored), self.table.get(to)
        if target is now:
            return Transition(now.id, now.id)
        if target.order < now.order:
            return await self._go_back(_Move(stored, now, target, by))
        book = self._book(is_marking=by == WRITER and target is self.table.last)
        gate = self._gate(target, book)
        if not gate.is_open:
            await self._refuse_unless_insisted(gate, by, override)
        return await self._enter(_Move(stored, now, target, by), gate, risk_note)

    async def mark_complete(self, *, by: By, override: bool = False) -> Transition:
        """Mark the manuscript as complete; only the writer can."""
        return await self.advance(self.table.last.id, by=by, override=override)

    async def reopen(self, *, by: By) -> Transition:
        """Take a complete manuscript up again, in the mode before."""
        return await self.advance(self.table.modes[-2].id, by=by)

    async def waive(self, template: str, *, by: By, risk_note: str = "") -> GateOverride:
        """Let the writer go on without one template's completion, and nothing else."""
        subject = template_name(template).value
        now = self._now()
        following = self.table.after(now) or now
        gate = self._gate(following, self._book())
        chosen = tuple(item for item in gate.items if item.unmet.subject == subject)
        restricted = ModeGate(following.id, chosen)
        if by != WRITER or not chosen:
            raise WritersDecision(
                f"{subject} cannot be waived: "
                + ("nothing is missing there" if not chosen else "an agent asked"),
                fix="Only the writer waives, and only what a gate misses.",
            )
        await self._refuse_unless_insisted(restricted, by, override=True)

        def work(connection: Connection) -> GateOverride:
            made = self._override(connection, now, restricted, risk_note, subject)
            self._overrides.store(connection, made)
            return made

        made = await self._workspace.studio.database.write(work)
        await self.settle()
        return made

    async def update_status(self, template: str, status: str) -> StatusReport:
        """Take an agent's claim about a template; after the first mode it may open one again."""
        is_later = self._now() is not self.table.first
        return await claim_status(self.bible, template, status, may_reopen=is_later)

    async def settle(self) -> None:
        """Have the memory hold every override it does not hold yet."""
        if self._around.remember is None:
            return
        for override in self._overrides.all():
            if not override.is_noted:
                await self._around.remember(
                    "constraint", override.key, override.line, "writer_stated"
                )
                await self._overrides.note(override)

    def _now(self) -> FactoryMode:
        return self._named(self._positions.read().mode)

    def _named(self, stored: str) -> FactoryMode:
        # A project may drop a mode from its file while a book is in it.
        return next((mode for mode in self.table.modes if mode.id == stored), self.table.first)

    def _book(self, *, is_marking: bool = False) -> ShownItem:
        return ShownItem(
            self.bible.work_order(),
            self._around.voice(),
            self._around.outline(),
            self._around.scenes(),
            is_marking or self._positions.read().is_marked_complete,
        )

    def _gate(self, target: FactoryMode, book: ShownItem) -> ModeGate:
        items = tuple(
            GateItem(mode.id, unmet)
            for mode in self.table.before(target)
            for name in mode.gate
            for unmet in PREDICATES[name](book)
        )
        left = self._overrides.uncovered(items)
        covered = tuple(item.unmet.text for item in items if item not in left)
        return ModeGate(target.id, left, covered)

    async def _refuse_unless_insisted(self, gate: ModeGate, by: By, override: bool) -> None:
        if by != WRITER:
            raise ModeGated(gate.mode, gate.unmet, fix=_AGENTS_WAIT)
        told = self._positions.read().refusals.get(gate.mode, [])
        if override and set(gate.unmet) <= set(told):
            return
        await self._positions.refuse(gate.mode, gate.unmet)
        raise ModeGated(gate.mode, gate.unmet, fix=_INSIST)

    async def _enter(self, move: "_Move", gate: ModeGate, risk_note: str) -> Transition:
        undone = await self._act(move.target)

        def work(connection: Connection) -> GateOverride | None:
            is_marked = move.target is self.table.last
            self._positions.move(
                connection, move.stored, move.target.id, by=move.by, is_marked=is_marked
            )
            if gate.is_open:
                return None
            made = self._override(connection, move.now, gate, risk_note)
            self._overrides.store(connection, made)
            return made

        made = await self._workspace.studio.database.write(work)
        await self.settle()
        return Transition(move.now.id, move.target.id, made, move.target.opens_with, undone)

    async def _go_back(self, move: "_Move") -> Transition:
        now, target = move.now, move.target
        if move.by != WRITER:
            raise WritersDecision(
                f"Only the writer takes the book back from {now.id} to {target.id}",
                fix="Say why it should go back, and let the writer decide.",
            )
        passed = frozenset(mode.id for mode in self.table.modes if mode.order >= target.order)

        def work(connection: Connection) -> None:
            self._positions.move(connection, move.stored, target.id, by=move.by, is_marked=False)
            self._overrides.lapse(connection, passed)

        await self._workspace.studio.database.write(work)
        return Transition(now.id, target.id, opens_with=target.opens_with)

    async def _act(self, target: FactoryMode) -> tuple[str, ...]:
        undone: list[str] = []
        for name in target.on_enter:
            effect = self._around.effects.get(name)
            if effect is None:
                undone.append(name)
            else:
                await effect()
        return tuple(undone)

    def _override(
        self,
        connection: Connection,
        now: FactoryMode,
        gate: ModeGate,
        risk_note: str,
        scope: str = "",
    ) -> GateOverride:
        return GateOverride(
            id=self._overrides.next_id(connection),
            from_mode=now.id,
            to_mode=gate.mode,
            unmet=gate.unmet,
            risk_note=" ".join(risk_note.split())[:500],
            ts=self._workspace.studio.clock.now_ms(),
            covers=tuple((item.mode, item.unmet.subject) for item in gate.items),
            scope=scope,
        )

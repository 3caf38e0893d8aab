"""The workspace of loops: opens units, finds what they start from, and shelves what they make."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.loop import (
    ArtifactDraft,
    Loop,
    LoopRequest,
    Misfit,
    OpenedUnit,
    RaciRole,
    StoredArtifact,
)
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.engine.scope import StepScope
from callboard.packs.questfoundry.artifacts import catalog
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.roster import LETTERS, SHOWRUNNER
from callboard.packs.questfoundry.shelf.entry import HotLeak, ShelfEntry, Temperature
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.packs.questfoundry.units.unit import UnitOutcome, UnitStatus, WorkUnit
from callboard.store.connection import Connection

_OUTCOMES: Final = frozenset({"success", "failed", "stalled", "cancelled"})


class QuestWorkspace:
    """Where loops of a book keep what they make."""

    def __init__(self, foundry: Foundry) -> None:
        """Take the foundry of the project."""
        self.foundry = foundry

    @property
    def leaves_receipts(self) -> bool:
        """What a loop stores is on record in the journal of its run."""
        return False

    async def open(
        self, stage: Stage, scope: StepScope, loop: Loop, request: LoopRequest
    ) -> OpenedUnit:
        """Open a unit or one that is there again, and find its entry inputs."""
        plan = await self.foundry.begun()
        awake = (*request.awake, *self.foundry.settings.roles.awake_optional, *plan.awake)
        entries = self.entries(loop, request)
        if request.unit is not None:
            unit = await self.foundry.units.take_up(request.unit, _work(scope), awake)
        else:
            unit = await self.foundry.units.open(_opening(loop, request, scope, awake, entries))
        lessons = self.foundry.lessons(loop.id)
        about = "\n".join([plan.told(), *(f"lesson: {each}" for each in lessons)])
        made = {kind: self.foundry.shelf.find(str(row["ref"])) for kind, row in unit.made.items()}
        return OpenedUnit(
            id=unit.id,
            entries={kind: each.stored() for kind, each in entries.items()},
            made={kind: each.stored() for kind, each in made.items()},
            revisions=unit.revisions,
            about=about,
        )

    def entries(self, loop: Loop, request: LoopRequest) -> dict[str, ShelfEntry]:
        """Find what the loop starts from: what was named, else a unit before, else the newest."""
        found: dict[str, ShelfEntry] = {}
        for ref in request.inputs.values():
            named = self._named(ref)
            found[named.kind] = named
        before = [self.foundry.units.find(each) for each in reversed(request.upstream)]
        for need in loop.entry_inputs:
            for kind in need.kinds:
                if kind not in found and (entry := self._resolve(kind, before)) is not None:
                    found[kind] = entry
        if loop.options.get("source") == "cold":
            for entry in found.values():
                if entry.sot != "cold":
                    raise HotLeak(
                        f"{loop.name} takes only what is Cold, and {entry.ref} is a draft",
                        fix="Give it a snapshot: `callboard quest snapshots` shows them.",
                        artifact=entry.ref,
                    )
        return found

    def _named(self, ref: str) -> ShelfEntry:
        try:
            return self.foundry.shelf.find(ref)
        except NotFound:
            # A snapshot may be called by its own name.
            return self.foundry.shelf.find(f"cold_snapshot.{ref}")

    def _resolve(self, kind: str, before: Sequence[WorkUnit]) -> ShelfEntry | None:
        for unit in before:
            if kind in unit.made:
                return self.foundry.shelf.find(str(unit.made[kind]["ref"]))
        if kind == "cold_snapshot" and (tip := self.foundry.cold.tip()) is not None:
            return self.foundry.shelf.find(f"cold_snapshot.{tip.id}")
        return self.foundry.shelf.newest(kind)

    def check(self, kind: str, content: Json) -> Sequence[Misfit]:
        """Say what is wrong with an artifact; a kind without a schema is wrong."""
        if kind not in catalog.shapes():
            return [Misfit("", f"there is no kind of artifact called {kind}")]
        return [
            Misfit(each["path"], each["message"]) for each in catalog.problems_of(kind, content)
        ]

    def schemas(self, kinds: Sequence[str]) -> str:
        """Return the schema index of some kinds, as compact text for a role's prompt."""
        return catalog.index_of(kinds)

    async def store(
        self, stage: Stage, scope: StepScope, unit: str, drafts: Sequence[ArtifactDraft]
    ) -> Sequence[StoredArtifact]:
        """Store valid artifacts of one step, each as a new version with its report."""
        shelf, units = self.foundry.shelf, self.foundry.units
        # What a role makes for a human directly belongs to no unit and stays a draft.
        name = units.find(unit).loop if unit else ""
        loops = {each.id: each for each in self.foundry.registry.loops()}
        is_surface = name in loops and bool(loops[name].options.get("surface"))
        sot: Temperature = "cold" if is_surface else "hot"
        made = [
            (
                shelf.foresee(
                    Shelving(
                        kind=each.kind,
                        content=each.content,
                        tu_id=unit,
                        loop=name,
                        step=each.step,
                        produced_by=each.produced_by,
                        sot=sot,
                        upstream={kind: up.sha256 for kind, up in each.upstream.items()},
                    )
                ),
                each.content,
            )
            for each in drafts
        ]

        def act(connection: Connection) -> None:
            for entry, content in made:
                shelf.keep(connection, entry, content)
            if not unit:
                return
            held = units.load(connection, unit)
            rows = dict(held.made)
            for entry, _ in made:
                rows.pop(entry.kind, None)
                rows[entry.kind] = {
                    "ref": entry.ref,
                    "sha256": entry.sha256,
                    "order": 1 + max((int(row["order"]) for row in rows.values()), default=0),
                }
            units.save(connection, replace(held, made=rows))

        scope.commit_with(act)
        return [entry.stored() for entry, _ in made]

    async def withdraw(
        self, stage: Stage, scope: StepScope, unit: str, gone: Sequence[StoredArtifact], why: str
    ) -> None:
        """Note that artifacts do not count any more; they stay in the history."""
        refs = [each.id for each in gone]
        kinds = {each.kind for each in gone}

        def act(connection: Connection) -> None:
            for ref in refs:
                self.foundry.shelf.withdraw(connection, ref, why)
            held = self.foundry.units.load(connection, unit)
            rows = {kind: row for kind, row in held.made.items() if kind not in kinds}
            self.foundry.units.save(connection, replace(held, made=rows))

        scope.commit_with(act)

    def content(self, artifact: StoredArtifact, reader: str | None = None) -> Json:
        """Return what an artifact says; for a role, refuse what it may not read."""
        if reader is not None:
            self.foundry.shelf.find(artifact.id).refuse(reader)
        return self.foundry.shelf.body(artifact.sha256)

    async def close(
        self, stage: Stage, scope: StepScope, unit: str, result: Mapping[str, Json]
    ) -> None:
        """Close the unit with the outcome of a run."""
        now = self.foundry.studio.clock.now_ms()
        units = self.foundry.units

        def act(connection: Connection) -> None:
            held = units.load(connection, unit)
            units.save(connection, closed(held, result, now))

        scope.commit_with(act)


def closed(unit: WorkUnit, result: Mapping[str, Json], now: int) -> WorkUnit:
    """Return a unit after a run of it ended."""
    status = str(result.get("status", ""))
    outcome = cast("UnitOutcome", status if status in _OUTCOMES else "failed")
    after: Any = result.get("next_loop")
    unit = replace(
        unit,
        outcome=outcome,
        closed_at=now,
        error=str(result["error"]) if result.get("error") else None,
        ready_for_gate=outcome == "success",
        revisions=tuple(result.get("revisions") or ()),
        deferral_tags=tuple(result.get("deferrals") or ()),
        validation=dict(result.get("validation") or {}),
        stats=dict(result.get("stats") or {}),
        next_loop=None if after is None else str(after),
    )
    if unit.loop == "gatecheck" and outcome == "success":
        return unit.decided(unit.snapshot, unit.upstream)
    if outcome == "stalled" and unit.status is UnitStatus.STABILIZING:
        why = str(result.get("error") or result.get("reason") or "the loop came to no end")
        unit = unit.moved(UnitStatus.DEFERRED, reason=why, revisit="when somebody takes it up")
    return unit


def _work(scope: StepScope) -> str:
    """Return under what name work is done once: a run, or one loop of several in it."""
    return scope.run_id if scope.key == "open" else f"{scope.run_id}/{scope.key}"


def _opening(
    loop: Loop,
    request: LoopRequest,
    scope: StepScope,
    awake: tuple[str, ...],
    entries: Mapping[str, ShelfEntry],
) -> UnitOpening:
    leads = [role for role in loop.roles_with(RaciRole.RESPONSIBLE) if role in LETTERS]
    return UnitOpening(
        run_id=_work(scope),
        loop=loop.id,
        lead=LETTERS[leads[0] if leads else SHOWRUNNER],
        title=request.title or loop.name,
        brief=request.brief,
        responsible=tuple(leads),
        awake=tuple(dict.fromkeys(awake)),
        upstream=request.upstream,
        inputs={kind: entry.ref for kind, entry in entries.items()},
    )

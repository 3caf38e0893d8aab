"""What a producer may do with a book besides running loops: begin it, settle units, import."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from callboard.core.errors import NotFound
from callboard.operations import Operations, operation
from callboard.packs.questfoundry.archive import read_archive, restored
from callboard.packs.questfoundry.assembly.taking_apart import difference, take_apart
from callboard.packs.questfoundry.beginning import BookPlan, new_ifid
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.foundry import Foundry, find
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

FAMILY = "quest"
Reason = Annotated[str, Field(min_length=1, max_length=2_000)]
Shape = dict[str, Any]


def _moved(unit: Shape) -> str:
    return f"unit {unit['id']}: {unit['status']}"


@operation(post="/book")
async def begin_book(
    foundry: Foundry,
    title: Annotated[str, Field(min_length=1, max_length=200)],
    author: str = "",
    genre: str = "",
    language: Annotated[str, Field(min_length=2, max_length=35)] = "en",
    tone: str = "",
    pov: Literal["", "first", "second", "third"] = "second",
    tense: Literal["", "past", "present"] = "present",
    target_sections: Annotated[int, Field(ge=1, le=10_000)] = 40,
    branching: Literal["linear", "moderate", "high"] = "moderate",
    awake: tuple[str, ...] = (),
) -> Shape:
    """Begin a book: its plan, a first style guide and an empty snapshot. Once."""
    plan = BookPlan(
        title=title,
        author=author,
        genre=genre,
        language=language,
        tone=tone,
        pov=pov,
        tense=tense,
        target_sections=target_sections,
        branching=branching,
        awake=awake,
        ifid=new_ifid(foundry.studio),
    )
    return (await foundry.begin(plan)).to_json()


@operation(post="/tus/{tu_id}/defer", tell=_moved)
async def defer_unit(foundry: Foundry, tu_id: str, reason: Reason, revisit: Reason) -> Shape:
    """Put a unit off, with a reason and what would bring it back."""
    done = await foundry.units.change(
        tu_id, lambda unit: unit.moved(UnitStatus.DEFERRED, reason=reason, revisit=revisit)
    )
    return done.shape()


@operation(post="/tus/{tu_id}/reject", tell=_moved)
async def reject_unit(foundry: Foundry, tu_id: str, reason: Reason) -> Shape:
    """Give a unit up, with a reason. It stays on record."""

    def move(unit: WorkUnit) -> WorkUnit:
        if unit.status is UnitStatus.STABILIZING:
            unit = unit.moved(UnitStatus.DEFERRED, reason=reason, revisit="never")
        return unit.moved(UnitStatus.REJECTED, reason=reason)

    return (await foundry.units.change(tu_id, move)).shape()


@operation(post="/snapshots/{snapshot_id}/select")
async def select_snapshot(foundry: Foundry, snapshot_id: str) -> str:
    """Go on from an earlier snapshot. No snapshot is changed by it."""
    return (await foundry.cold.select(snapshot_id)).id


@operation(post="/canon/rebuild", tell=lambda made: f"{made} statements of canon")
async def rebuild_canon(foundry: Foundry) -> int:
    """Write the canon of the newest snapshot into the knowledge graph anew, from Cold alone."""

    def act(connection: Connection) -> int:
        tip = foundry.cold.load_tip(connection)
        return 0 if tip is None else foundry.cold.canon.rebuild(connection, tip)

    return await foundry.studio.database.write(act)


@operation(post="/lessons/approve")
async def approve_lessons(foundry: Foundry, artifact: str, by: Reason) -> int:
    """Approve the lessons of a retro: from now on roles and loops are told them."""
    entry = foundry.shelf.find(artifact)
    if entry.kind != "practice_updates":
        raise NotFound(f"{artifact} holds no lessons", fix="Name a `practice_updates` artifact.")
    rows = foundry.shelf.body(entry.sha256)["updates"]

    def act(connection: Connection) -> int:
        for number, row in enumerate(rows):
            lesson = {**row, "approved_by": by}
            foundry.keep_lesson(connection, f"{entry.ref}/{number}", lesson)
        return len(rows)

    return await foundry.studio.database.write(act)


@operation()
async def import_book(foundry: Foundry, book: Shape, source: str, notes: tuple[str, ...]) -> Shape:
    """Bring a story in as a unit that waits for its gatecheck; tell what it changes."""
    arrived = Book.from_json(book)
    if foundry.plan is None:
        # A story that comes from elsewhere keeps its own name, number and manner.
        await foundry.begin(
            BookPlan(
                title=arrived.title or source,
                author=arrived.author,
                language=arrived.language,
                pov="",
                tense="",
                target_sections=len(arrived.sections),
                ifid=arrived.ifid or new_ifid(foundry.studio),
            )
        )
    changed = difference(foundry.cold_book(foundry.snapshot_named(None)), arrived)
    name = foundry.studio.ids.make("session")
    unit = await foundry.units.open(
        UnitOpening(f"import/{name}", "import", "BB", f"Import of {source}"[:200])
    )
    parts = take_apart(arrived)

    def act(connection: Connection) -> WorkUnit:
        made: dict[str, dict[str, Any]] = {}
        for number, (kind, content) in enumerate(parts.items(), start=1):
            wanted = Shelving(kind, content, unit.id, "import", "", "book_binder")
            entry = foundry.shelf.put(connection, wanted)
            made[kind] = {"ref": entry.ref, "sha256": entry.sha256, "order": number}
        held = foundry.units.load(connection, unit.id)
        now = foundry.studio.clock.now_ms()
        done = replace(
            held, made=made, outcome="success", ready_for_gate=True, closed_at=now, brief=source
        )
        return foundry.units.save(connection, done)

    stored = await foundry.studio.database.write(act)
    return {
        "tu_id": stored.id,
        "sections": len(arrived.sections),
        "added": list(changed.added),
        "changed": {name: list(parts) for name, parts in changed.changed.items()},
        "removed": list(changed.removed),
        "elsewhere": list(changed.elsewhere),
        "kept_verbatim": len(arrived.verbatim),
        "notes": list(notes),
    }


@operation()
async def restore_archive(foundry: Foundry, archive: str) -> int:
    """Put everything of an archive into an empty project."""
    return await restored(foundry, read_archive(Path(archive)))


def operations_on(studio: Studio) -> Operations:
    """Return what has operations on a book done, on record."""
    return Operations(studio, FAMILY, find)

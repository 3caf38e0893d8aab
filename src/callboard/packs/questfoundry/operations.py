"""What a producer may do with a book besides running loops: describe it, settle units, restore."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from callboard.core.errors import Conflict, NotFound
from callboard.operations import Operations, operation
from callboard.packs.questfoundry.archive import read_archive, restored, settings_within
from callboard.packs.questfoundry.beginning import BookPlan, new_ifid
from callboard.packs.questfoundry.foundry import Foundry, find
from callboard.packs.questfoundry.settings import PROJECT_FILE
from callboard.packs.questfoundry.steps.reports import report_in
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.packs.questfoundry.verdict import Bar, BarWaiver, GateDecision, waived
from callboard.store.connection import Connection
from callboard.store.files import write_atomically
from callboard.studio.studio import Studio

FAMILY = "quest"
Reason = Annotated[str, Field(min_length=1, max_length=2_000)]
Shape = dict[str, Any]


def _moved(unit: Shape) -> str:
    return f"unit {unit['id']}: {unit['status']}"


def said_of(foundry: Foundry) -> Shape:
    """Return what is said of the book; one that has not begun has no IFID yet."""
    plan = foundry.plan or replace(BookPlan.usual(foundry.studio), ifid="")
    return plan.to_json()


def described(plan: Shape) -> str:
    """Say what a book shall be, a line for each thing that was said."""
    return "\n".join(f"{name}: {value}" for name, value in plan.items() if value not in ("", []))


@operation(post="/book", tell=described)
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
    begun = await foundry.begin(plan)
    if not begun.says_the_same(plan):
        raise Conflict(
            f"The book is begun already, as {begun.title!r}",
            fix="`callboard quest describe --title TEXT` and its other options change what is said"
            " about it.",
        )
    return begun.to_json()


@operation(put="/book", tell=described)
async def describe_book(
    foundry: Foundry,
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None,
    author: str | None = None,
    genre: str | None = None,
    language: Annotated[str, Field(min_length=2, max_length=35)] | None = None,
    tone: str | None = None,
    target_sections: Annotated[int, Field(ge=1, le=10_000)] | None = None,
) -> Shape:
    """Say something else about the book; what is not named stays. Its IFID and snapshots stay."""
    told = {"title": title, "author": author, "genre": genre, "language": language, "tone": tone}
    new: Shape = {**told, "target_sections": target_sections}
    kept = {name: value for name, value in new.items() if value is not None}
    return (await foundry.describe(lambda plan: replace(plan, **kept))).to_json()


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


def _waived(made: Shape) -> str:
    state = "withdrawn" if made["withdrawn"] else f"until {made['expires']}"
    return f"waiver {made['id']}: {made['bar']} at {made['scope']}, {state}"


@operation(post="/tus/{tu_id}/waive", undo="withdraw_waiver", tell=_waived)
async def waive_finding(
    foundry: Foundry,
    tu_id: str,
    bar: Bar,
    place: Reason,
    reason: Reason,
    until: date,
    by: Reason,
    check: str = "",
) -> Shape:
    """Let one red finding of a unit's newest report pass until a day, with a reason and a name."""
    wanted = BarWaiver(bar, reason, place, until, by, check)
    standing = foundry.waivers.standing()
    digest = _newest_report(foundry, tu_id)

    def act(connection: Connection) -> Shape:
        unit = foundry.units.load(connection, tu_id)
        report = report_in(foundry.shelf.load_body(connection, digest))
        kept = foundry.waivers.grant(connection, report, wanted, tu_id)
        after = waived(report, [*standing, kept.given()])
        if after.decision is not GateDecision.BLOCK:
            # Nothing the gate asked for is a must any more: the next look finds it settled.
            left = tuple(each for each in unit.revisions if each.get("severity") != "must")
            foundry.units.save(connection, replace(unit, revisions=left))
        return kept.to_json()

    return await foundry.studio.database.write(act)


def _newest_report(foundry: Foundry, tu_id: str) -> str:
    """Return the digest of a unit's own report, else of the newest gatecheck that judged it."""
    own = foundry.units.find(tu_id)
    gates = [each for each in foundry.units.all() if each.loop == "gatecheck"]
    judged = [each for each in reversed(gates) if tu_id in each.upstream]
    for unit in (own, *judged):
        if "gatecheck_report" in unit.made:
            return str(unit.made["gatecheck_report"]["sha256"])
    raise NotFound(
        f"{tu_id} has no report yet",
        fix="Name a unit that a gate has looked at, or the gatecheck: `callboard quest tu list`.",
    )


@operation(post="/waivers/{waiver_id}/withdraw", undo="waive_finding", tell=_waived)
async def withdraw_waiver(foundry: Foundry, waiver_id: str, reason: Reason) -> Shape:
    """Take a waiver back. What was merged under it stays; later gatechecks know it no more."""
    return (await foundry.waivers.withdraw(waiver_id, reason)).to_json()


@operation(
    post="/snapshots/{snapshot_id}/select", tell=lambda made: f"The book goes on from {made}."
)
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


@operation(tell=lambda made: f"{made} records restored")
async def restore_archive(foundry: Foundry, archive: str) -> int:
    """Put everything of an archive into an empty project."""
    held = read_archive(Path(archive))
    count = await restored(foundry, held)
    own = foundry.studio.project.root / PROJECT_FILE
    settings = settings_within(held)
    if settings is not None and not own.exists():
        write_atomically(own, settings, within=foundry.studio.project.root)
    return count


def operations_on(studio: Studio) -> Operations:
    """Return what has operations on a book done, on record."""
    return Operations(studio, FAMILY, find)

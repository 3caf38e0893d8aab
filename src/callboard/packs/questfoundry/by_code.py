"""Gatecheck, files and archives by code alone, for when no model shall have a say or is able to.

The bars, the merge and the files are those of the loops; what only a reader could judge is not
judged, and the report says so by naming code as its source.
"""

import asyncio
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from callboard.core.errors import Conflict
from callboard.operations import operation
from callboard.packs.questfoundry.cold.snapshots import Merging
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.steps.archiving import pack, unpack_to_compare
from callboard.packs.questfoundry.steps.reports import body_of, judged, told_lines
from callboard.packs.questfoundry.steps.views import (
    editions,
    judge_files,
    make_files,
    rows_of,
    view_name,
    write_view,
)
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.packs.questfoundry.units.unit import UnitStatus, WorkUnit
from callboard.packs.questfoundry.verdict import GateDecision, waived
from callboard.store.connection import Connection

Shape = dict[str, Any]
_GO_ON = (
    "Mend an imported story in its file and import it again; go on with a loop's unit by "
    "`callboard quest resume UNIT`; let one red finding stand by `callboard quest waive UNIT`. "
    "A unit that is named is judged again."
)


def _told(made: Shape) -> str:
    lines = [*told_lines(made), f"Decision: {made['decision']}"]
    if made["snapshot"]:
        return "\n".join([*lines, f"Merged as {made['snapshot']}"])
    return "\n".join([*lines, f"Sent back: {', '.join(made['sent_back'])}. {_GO_ON}"])


def _bound(made: Shape) -> str:
    if made["decision"] != "block":
        return "\n".join([*made["limitations"], *(row["path"] for row in made["files"])])
    return "\n".join([*told_lines(made), "Nothing was written: red does not reach readers."])


def _nothing_ready(foundry: Foundry) -> Conflict:
    found = foundry.studio.database.read(foundry.units.open_ones)
    back = [each.id for each in found if each.outcome == "success" and each.loop != "gatecheck"]
    if not back:
        told, way = "Nothing is ready for a gatecheck", "Run a loop or import a story first."
        return Conflict(told, fix=way)
    told = f"Nothing is ready for a gatecheck; sent back or not handed on: {', '.join(back)}"
    return Conflict(told, fix=_GO_ON)


def _require_work(unit: WorkUnit) -> None:
    """Refuse a unit that has nothing to judge: a gatecheck, one that is over, failed or empty."""
    if unit.loop == "gatecheck":
        told = "is a gatecheck itself: it holds a report and nothing to merge"
        way = f"Name what it judged: {', '.join(unit.upstream) or 'see `callboard quest tu list`'}."
    elif unit.is_over:
        told, way = f"is {unit.status.value}", "`callboard quest tu list` shows what is open."
    elif unit.outcome not in ("success", "stalled") or not unit.made:
        told, way = (
            f"has made nothing that is ready ({unit.outcome or 'not finished'})",
            f"Go on with it by `callboard quest resume {unit.id}`.",
        )
    else:
        return
    raise Conflict(f"{unit.id} {told}", fix=way)


@operation(tell=_told)
async def gate_by_code(foundry: Foundry, tu_ids: tuple[str, ...] = ()) -> Shape:
    """Judge units by the eight bars, as far as code can, and merge what is not blocked."""
    await foundry.begun()
    units = [foundry.units.find(each) for each in tu_ids] or foundry.units.ready_ones()
    if not units:
        raise _nothing_ready(foundry)
    for unit in units:
        _require_work(unit)
    # Before anything is judged: what is merged meanwhile makes the judgement worth nothing.
    base = foundry.snapshot_named(None).id
    book, rules = foundry.book_with(units), foundry.rules
    # Off the event loop: who stops it while it judges has nothing merged.
    judgement = await asyncio.to_thread(judged, book, [], "gatecheck", rules=rules)
    report = waived(judgement, foundry.waivers.standing())
    body = body_of(report)
    is_blocked = report.decision is GateDecision.BLOCK
    named = tuple(each.id for each in units)
    opening = UnitOpening(
        f"code/{foundry.studio.ids.make('session')}", "gatecheck", "GK", "By code", upstream=named
    )
    hashes = {
        unit.id: {kind: str(row["sha256"]) for kind, row in unit.made.items()} for unit in units
    }

    def keep(connection: Connection) -> None:
        # Whoever stops it before leaves no gatecheck behind that never ends.
        opened = foundry.units.add(connection, opening)
        wanted = Shelving(
            "gatecheck_report", body, opened.id, "gatecheck", "", "gatekeeper", sot="cold"
        )
        entry = foundry.shelf.put(connection, wanted)
        row = {"ref": entry.ref, "sha256": entry.sha256, "order": 1}
        now = foundry.studio.clock.now_ms()
        done = replace(opened, made={entry.kind: row}, outcome="success", closed_at=now)
        tip = None if is_blocked else foundry.cold.load_tip(connection)
        foundry.units.save(connection, done.decided(None if tip is None else tip.id, named))
        if is_blocked:
            for unit in units:
                back = _sent_back(foundry.units.load(connection, unit.id), opened.id)
                foundry.units.save(connection, back)
        elif tip is not None:
            foundry.shelve_snapshot(connection, tip)

    made = None
    if is_blocked:
        await foundry.studio.database.write(keep)
    else:
        made = (await foundry.cold.merge(Merging(opening.run_id, base, hashes), keep)).id
    sent_back = list(named) if is_blocked else []
    tu_id = foundry.units.of_run(opening.run_id)
    return {**body, "snapshot": made, "tu_id": tu_id, "sent_back": sent_back}


def _sent_back(unit: WorkUnit, gatecheck: str) -> WorkUnit:
    if unit.status is UnitStatus.GATECHECK:
        unit = unit.moved(UnitStatus.STABILIZING)
    return replace(unit, ready_for_gate=False, gatecheck=gatecheck)


@operation(tell=_bound)
async def bind_by_code(
    foundry: Foundry,
    snapshot: str = "",
    formats: Annotated[tuple[str, ...], Field(max_length=20)] = (),
    locales: Annotated[tuple[str, ...], Field(max_length=50)] = (),
    partial: bool = False,
) -> Shape:
    """Build the files of a snapshot and its translations, twice, and judge what was built."""
    found = foundry.snapshot_named(snapshot or None)
    request: Shape = {
        "snapshot": found.id,
        "formats": list(formats or foundry.settings.binding.formats),
        "include": {"art": True, "audio": True},
        "title": foundry.page().title,
    }
    # A view without translations keeps the name it always had.
    request["include"] |= {"locales": list(locales)} if locales else {}
    request |= {"partial": True} if locales and partial else {}
    made = editions(foundry, request)
    files = await make_files(made, request["formats"])
    again = await make_files(made, request["formats"])
    judgement = await asyncio.to_thread(judge_files, foundry, made, [], files, again)
    report = waived(judgement, foundry.waivers.standing())
    name = view_name(request)
    is_written = report.decision is not GateDecision.BLOCK
    if is_written:
        await write_view(foundry, name, files)
    return {
        **body_of(report),
        "view": name,
        "files": rows_of(name, made, files) if is_written else [],
        "limitations": [told for each in made for told in each.limitations()],
    }


def _packed(made: Shape) -> str:
    if made["mismatches"]:
        return f"{made['path']} is not what was packed: {', '.join(made['mismatches'])}"
    return f"{made['path']}: {made['size']} bytes, unpacked and compared"


@operation(tell=_packed)
async def archive_by_code(
    foundry: Foundry,
    label: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,59})?$")] = "",
) -> Shape:
    """Pack everything into one file, unpack it and compare; named after the newest snapshot."""
    await foundry.begun()
    package = await pack(foundry, label or foundry.snapshot_named(None).id)
    return {**package, "mismatches": await unpack_to_compare(foundry, package)}

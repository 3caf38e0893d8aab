"""QuestFoundry over HTTP: loops, runs of loops with their events, and the records of a book.

Events, answers and cancelling are those of any run: `/api/runs/{id}/events`, `/api/questions`,
`/api/runs/{id}/cancel`.
"""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from callboard.api.operations import operation_router
from callboard.api.project import Entry, OpenStudio, Paged, Shown, StartedJob, started
from callboard.choreography.loop import LoopWish
from callboard.core.codec import encode
from callboard.packs.questfoundry import operations
from callboard.packs.questfoundry.bars.whereabouts import list_sections, whereabouts
from callboard.packs.questfoundry.doors.telling import (
    canon_rows,
    conflicts_of,
    context_rows,
    report_of,
    told_in,
    why_of,
)
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.runs import inventory
from callboard.store.journal.events import read_events
from callboard.studio.runnable import result_of

router = APIRouter(prefix="/quest", tags=["questfoundry"])


async def _of_request(studio: OpenStudio) -> Foundry:
    return foundry_of(studio)


OpenFoundry = Annotated[Foundry, Depends(_of_request)]


class LoopShape(Shown):
    """A loop, in a few words."""

    id: str
    name: str
    purpose: str


@dataclass(frozen=True, slots=True)
class LoopRunWanted(LoopWish):
    """What a run of a loop is started with."""

    interactive: bool = True


@router.get("/loops")
async def list_loops(foundry: OpenFoundry) -> list[LoopShape]:
    """List the loops: those of the pack, and the project's own."""
    return [
        LoopShape(id=each.id, name=each.name, purpose=each.purpose)
        for each in foundry.registry.loops()
    ]


@router.get("/loops/{loop_id}")
async def show_loop(foundry: OpenFoundry, loop_id: str) -> Entry:
    """Show the steps of a loop, who does them, and when it is stable."""
    return foundry.registry.get(loop_id).model_dump(mode="json")


@router.post("/runs", status_code=202)
async def run_loop(foundry: OpenFoundry, wanted: LoopRunWanted) -> StartedJob:
    """Run a loop; follow it through the events of its run."""
    loop = foundry.registry.get(wanted.loop)
    if wanted.unit is not None:
        foundry.units.find(wanted.unit)
    args = encode(wanted)
    args["is_interactive"] = args.pop("interactive")
    del args["loop"]
    run = await foundry.studio.start(f"questfoundry/{loop.id}", args)
    return started(run, loop=loop.id)


@router.get("/runs/{run_id}")
async def show_run(foundry: OpenFoundry, run_id: str) -> Entry:
    """Show a run of a loop: its unit, its steps, why each was chosen, bars, and what was read."""
    run = foundry.studio.engine.load(run_id)
    events = foundry.studio.database.read(lambda c: read_events(c, run_id=run.id))
    told = told_in(events)
    unit_id = foundry.units.of_run(run_id)
    unit = None if unit_id is None else foundry.units.find(unit_id)
    decisions = [data for name, data in told if name == "decision"]
    board = {
        str(data["step"]): data.get("status", "running") for name, data in told if name in _BOARD
    }
    return {
        "run_id": run.id,
        "state": run.state.value,
        "tu_id": unit_id,
        "unit": None if unit is None else unit.shape(),
        "steps": board,
        "decisions": decisions,
        "deviations": [each for each in decisions if each["deviates_from_playbook"]],
        "report": None if unit is None else report_of(foundry, unit),
        "context": context_rows(decisions),
        "error": None if run.error is None else run.error.to_json(),
    }


_BOARD = frozenset({"step.started", "step.finished"})


@router.get("/tus")
async def list_units(foundry: OpenFoundry, page: Paged) -> list[Entry]:
    """List the units, oldest first."""
    return [each.shape() for each in page.cut(foundry.units.all())]


@router.get("/tus/{tu_id}")
async def show_unit(foundry: OpenFoundry, tu_id: str) -> Entry:
    """Show a unit with its newest report."""
    unit = foundry.units.find(tu_id)
    return {**unit.shape(), "report": report_of(foundry, unit)}


@router.get("/hooks")
async def list_hooks(foundry: OpenFoundry, page: Paged) -> list[Entry]:
    """List the story hooks, oldest first."""
    return [each.shape() for each in page.cut(foundry.hooks.all())]


@router.get("/artifacts")
async def list_artifacts(
    foundry: OpenFoundry, page: Paged, kind: str | None = None, tu_id: str | None = None
) -> list[Entry]:
    """List the artifacts, of one kind or one unit if asked."""
    return [each.shape() for each in page.cut(foundry.shelf.all(kind, tu_id))]


@router.get("/artifacts/{ref}")
async def show_artifact(foundry: OpenFoundry, ref: str) -> Entry:
    """Show an artifact and what it says."""
    entry = foundry.shelf.find(ref)
    return {**entry.shape(), "content": foundry.shelf.body(entry.sha256)}


@router.get("/snapshots")
async def list_snapshots(foundry: OpenFoundry, page: Paged) -> list[Entry]:
    """List the snapshots, oldest first."""
    return [each.to_json() for each in page.cut(foundry.cold.all())]


@router.get("/waivers")
async def list_waivers(foundry: OpenFoundry, page: Paged) -> list[Entry]:
    """List the waivers, oldest first, with those that were taken back."""
    return [each.to_json() for each in page.cut(foundry.waivers.all())]


@router.get("/canon")
async def list_canon(
    foundry: OpenFoundry, page: Paged, about: str = "", kind: str = "", reader: str | None = None
) -> list[Entry]:
    """List Cold's canon, of one name or one kind if asked, as a role may read it."""
    return [
        each.shape()
        for each in page.cut(canon_rows(foundry, about=about, kind=kind, reader=reader))
    ]


@router.get("/canon/conflicts")
async def list_conflicts(
    foundry: OpenFoundry, tu_id: Annotated[list[str] | None, Query()] = None
) -> Entry:
    """Say what contradicts canon, in Cold or in what it would be with some units."""
    return await asyncio.to_thread(conflicts_of, foundry, tu_id or ())


@router.get("/canon/{statement_id:path}")
async def show_statement(
    foundry: OpenFoundry, statement_id: str, reader: str | None = None
) -> Entry:
    """Show a statement: where it comes from, for which story hooks, and what it said before."""
    return why_of(foundry, statement_id, reader)


@router.post("/next-loop")
async def next_loop(foundry: OpenFoundry, policy: str = "") -> Entry:
    """Say which loop should come next, and why."""
    run = await foundry.studio.start("questfoundry/next_loop", {"policy": policy})
    told: Any = await result_of(foundry.studio.engine, run)
    return {"run_id": run.id, **told}


@router.get("/next-loop")
async def suggest(foundry: OpenFoundry) -> Entry:
    """Say which loop the playbook would run next; nobody is asked."""
    from callboard.choreography.loop import suggest_loop

    found = suggest_loop(foundry.registry, None, inventory(foundry))
    return {} if found is None else found.model_dump(mode="json")


@router.get("/book")
async def show_book(foundry: OpenFoundry) -> Entry:
    """Show what is said about the book; one that has not begun has no IFID yet."""
    return operations.said_of(foundry)


@router.get("/sections")
async def list_all_sections(foundry: OpenFoundry, page: Paged) -> list[Entry]:
    """List the sections of the newest snapshot, in the book's order."""
    book = foundry.cold_book(foundry.snapshot_named(None))
    return page.cut(list_sections(book))


@router.get("/sections/{section_id}")
async def show_section(foundry: OpenFoundry, section_id: str) -> Entry:
    """Show a section: its ways in and out, what each asks for, and a playthrough to it."""
    book = foundry.cold_book(foundry.snapshot_named(None))
    return await asyncio.to_thread(whereabouts, book, section_id)


_DECLARED = (
    operations.begin_book,
    operations.describe_book,
    operations.defer_unit,
    operations.reject_unit,
    operations.waive_finding,
    operations.withdraw_waiver,
    operations.select_snapshot,
    operations.rebuild_canon,
    operations.approve_lessons,
)
ROUTERS = (
    router,
    operation_router(_DECLARED, operations.operations_on, prefix="/quest", tag="questfoundry"),
)

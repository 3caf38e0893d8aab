"""Code of binding: lays out a snapshot, builds its files, and writes down what they lack."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from callboard.choreography.loop import CodeOutcome, Misfit, StepView
from callboard.core.canonical import Json
from callboard.core.codec import encode
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.cold.snapshot import Snapshot
from callboard.packs.questfoundry.formats.export import PATHS, losses
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import said_in
from callboard.packs.questfoundry.steps.views import (
    SURFACES,
    bound_book,
    built_files,
    editions,
    judge_files,
    make_files,
    rows_of,
    view_name,
    write_view,
)
from callboard.packs.questfoundry.verdict import GatecheckReport


async def snapshots_to_bind(foundry: Foundry, view: StepView) -> Json:
    """Show which snapshots there are."""
    held = view.content("cold_snapshot")
    paths = [str(each["path"]) for each in held["files"]]
    return {
        "snapshot": held["snapshot_id"],
        "locales": [each.removeprefix(SURFACES) for each in paths if each.startswith(SURFACES)],
        "holds": paths,
        "formats": list(PATHS),
        "usual_formats": list(foundry.settings.binding.formats),
    }


async def bindable(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Hold the request to the snapshot the run was given, and to formats there are."""
    said = said_in(view, "binding_request")
    snapshot = str(view.content("cold_snapshot")["snapshot_id"])
    said["snapshot"] = snapshot
    said["formats"] = [each for each in said.get("formats", ()) if each in PATHS]
    said["formats"] = said["formats"] or list(foundry.settings.binding.formats)
    said["title"] = said.get("title") or foundry.page().title
    if not foundry.cold_book(foundry.cold.find(snapshot)).sections:
        told = f"{snapshot} holds no section yet: run a gatecheck first"
        return CodeOutcome(errors=(Misfit("binding_request.snapshot", told),))
    try:
        editions(foundry, said)
    except (NotFound, Conflict, InvalidInput) as refused:
        told = f"{refused.message}; leave it out, or finish it by translation_pass"
        return CodeOutcome(errors=(Misfit("binding_request.include.locales", told),))
    return CodeOutcome({"binding_request": said})


async def layout(foundry: Foundry, view: StepView) -> Json:
    """Show how much there is to lay out."""
    book = bound_book(foundry, view.content("binding_request"))
    return {
        "sections": len(book.sections),
        "choices": sum(len(each.choices) for each in book.sections),
        "codex": len(book.codex),
        "pictures": len(book.pictures),
        "cues": len(book.cues),
        "endings": len(book.endings),
    }


def _anchors(book: Book) -> dict[str, str]:
    from callboard.packs.questfoundry.formats.naming import anchors

    return anchors(book)


def _laid_out(kind: str, book: Book, *, sections: bool, codex: bool) -> CodeOutcome:
    rows = [{"id": each.id, "title": each.title, "text": each.text} for each in book.sections]
    body = {
        "sections": rows if sections else [],
        "codex": [encode(each) for each in book.codex] if codex else [],
        "anchors": _anchors(book) if sections else {},
    }
    return CodeOutcome({kind: body})


async def lay_out_sections(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Lay out the sections of the snapshot, whatever was handed in."""
    book = bound_book(foundry, view.content("binding_request"))
    return _laid_out("manuscript_base", book, sections=True, codex=False)


async def lay_out_codex(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Attach the codex of the snapshot."""
    book = bound_book(foundry, view.content("binding_request"))
    return _laid_out("codex_surface", book, sections=False, codex=True)


async def lay_out_extras(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Attach pictures and sounds of the snapshot, as the words that stand for them."""
    book = bound_book(foundry, view.content("binding_request"))
    rows = [encode(each) for each in (*book.pictures, *book.cues)]
    return CodeOutcome({"extra_surfaces": {"sections": rows}})


async def extras_wanted(foundry: Foundry, view: StepView) -> bool:
    """Say whether anything but text is wanted."""
    request = view.content("binding_request")
    include = {} if request is None else cast("dict[str, Any]", request["include"])
    return any(include.values())


async def walk_through(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Put the manuscript together and list what readers could not reach or make out."""
    book = bound_book(foundry, view.content("binding_request"))
    body = _laid_out("manuscript", book, sections=True, codex=True).artifacts["manuscript"]
    entered = {choice.to for each in book.sections for choice in each.choices} | {book.start}
    names = Counter(_anchors(book).values())
    report = {
        "orphans": [each.id for each in book.sections if each.id not in entered],
        "collisions": sorted(each for each, count in names.items() if count > 1),
        "missing_alt": [each.id for each in book.pictures if not each.alt],
        "bad_links": [
            f"{each.id}/{choice.id}"
            for each in book.sections
            for choice in each.choices
            if choice.to not in book.by_id
        ],
    }
    return CodeOutcome({"manuscript": body, "nav_report": report})


async def true_front_matter(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Write into the front matter what code knows better."""
    said = said_in(view, "front_matter")
    request = view.content("binding_request")
    said |= {"title": request["title"], "snapshot": request["snapshot"]}
    return CodeOutcome({"front_matter": said})


async def export_formats(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Build every format and write the files."""
    request = view.content("binding_request")
    made = editions(foundry, request)
    files = await make_files(made, request["formats"])
    await write_view(foundry, view_name(request), files)
    rows = rows_of(view_name(request), made, files)
    return CodeOutcome({"export_bundle": {"files": rows}}, message=f"{len(rows)} files")


async def judge_bundle(foundry: Foundry, view: StepView, bars: Sequence[str]) -> GatecheckReport:
    """Judge the files as they were built, against a second build."""
    request = view.content("binding_request")
    made = editions(foundry, request)
    files = built_files(foundry, view.content("export_bundle"))
    return judge_files(foundry, made, list(bars), files, await make_files(made, request["formats"]))


async def hand_off_view(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Write down what the view was built from, with what, and what it lacks."""
    request = view.content("binding_request")
    made = editions(foundry, request)
    snapshot = foundry.cold.find(str(request["snapshot"]))
    lacks = [*losses(made[0].book, request["formats"])]
    lacks += [told for each in made for told in each.limitations()]
    log = {
        "snapshot": snapshot.id,
        "options": view_name(request),
        "files": view.content("export_bundle")["files"],
        "limitations": [
            *losses(made[0].book, request["formats"]),
            *lacks,
            *_deferred(foundry, snapshot),
        ],
        "tus_since_last": list(snapshot.tus),
        "gate_id": view.artifacts["gatecheck_report"].id,
    }
    return CodeOutcome(
        {"view_log": log}, next_loop="narration_dry_run", next_inputs=("export_bundle",)
    )


def _deferred(foundry: Foundry, snapshot: Snapshot) -> list[str]:
    """Return what units of the snapshot put off."""
    tags: dict[str, None] = {}
    at: Snapshot | None = snapshot
    while at is not None:
        for each in at.tus:
            try:
                tags |= dict.fromkeys(foundry.units.find(each).deferral_tags)
            except NotFound:
                continue
        at = foundry.cold.find(at.parent) if at.parent else None
    return list(tags)

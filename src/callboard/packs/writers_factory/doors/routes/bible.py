"""The Story Bible: the work order, the four templates, and what the writer keeps of them."""

from typing import Annotated, Final

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue

from callboard.api.project import Entry, Paged, Wanted, promise
from callboard.packs.writers_factory.bible import operations
from callboard.packs.writers_factory.bible.orders import Template, WorkOrder, find_gaps
from callboard.packs.writers_factory.doors.routes.request import (
    Name,
    WritersFactory,
)
from callboard.packs.writers_factory.modes.operations import claim_template

router = APIRouter(prefix="/factory", tags=["factory: bible"])

TemplateId = Annotated[
    str, Path(max_length=60, description="`protagonist`, `beat_sheet`, `theme` or `world_rules`.")
]


_TOLD: Final[Entry] = {
    "title": str,
    "checks": list[Entry],
    "failed_checks": list[Entry],
    "problems": list[str],
}
TemplateShape = promise(
    "TemplateShape", "A template as its file has it now, with every check.", Template, **_TOLD
)
WrittenTemplate = promise(
    "WrittenTemplate",
    "A template that was written; `version` is where the text before it is kept.",
    Template,
    **_TOLD,
    changed=bool,
    version=str | None,
    warnings=list[str],
)
WorkOrderShape = promise(
    "WorkOrderShape",
    "What the foundation of the book holds, and what it lacks.",
    WorkOrder,
    templates=list[TemplateShape],
    notebooks=Entry,
    completion_percentage=float,
    unmet=list[str],
    gaps=list[Entry],
)


class TemplateWanted(Wanted):
    """Fields to be written; the others stay, unless they are to be replaced as a whole."""

    fields: dict[str, JsonValue] = Field(max_length=200)
    source: Name = "writer_stated"
    replace: bool = False
    strict: bool = Field(default=False, description="Write nothing that fails a check.")


class AcceptWanted(Wanted):
    """Which judgement the writer overrules."""

    check: Name


class StatusWanted(Wanted):
    """What is claimed of a template; the file decides."""

    status: Name


@router.get("/work-order", response_model=WorkOrderShape)
async def show_work_order(factory: WritersFactory) -> Entry:
    """Show what is there and what is missing, from the files as they are now."""
    order = factory.rooms.bible.work_order()
    return {
        **order.to_json(),
        "templates": [_shape(each) for each in order.templates],
        "unmet": list(order.unmet),
        "gaps": [
            {"template": gap.template.value, "what": gap.what, "paths": list(gap.paths)}
            for gap in find_gaps(order)
        ],
    }


@router.get("/beats")
async def list_beats(factory: WritersFactory) -> list[Entry]:
    """List the fifteen beats with what happens in each and the scenes that serve it."""
    beats = factory.rooms.bible.beats(factory.rooms.manuscript.outline())
    return [
        {
            "number": beat.number,
            "name": beat.name,
            "content": beat.content,
            "midpoint_type": beat.midpoint_type,
            "low_pct": beat.point.low_pct,
            "high_pct": beat.point.high_pct,
            "act": beat.point.act,
            "scenes": list(beat.scenes),
        }
        for beat in beats
    ]


@router.get("/templates/{name}", response_model=TemplateShape)
async def show_template(factory: WritersFactory, name: TemplateId) -> Entry:
    """Show a template."""
    return _shape(factory.rooms.bible.template(name))


@router.put("/templates/{name}", response_model=WrittenTemplate)
async def write_template(
    factory: WritersFactory, name: TemplateId, wanted: TemplateWanted
) -> Entry:
    """Write fields into a template; checks that fail are listed, or with `strict` refuse it."""
    written = await factory.perform(
        operations.fill_template, name, wanted.fields, wanted.source, wanted.replace, wanted.strict
    )
    return {
        **_shape(written.template),
        "changed": written.changed,
        "version": written.version,
        "warnings": list(written.warnings),
    }


@router.get("/templates/{name}/versions")
async def list_versions(factory: WritersFactory, name: TemplateId, page: Paged) -> list[Entry]:
    """List the texts that were replaced, oldest first, with where each is kept."""
    return [dict(each) for each in page.cut(factory.rooms.bible.versions(name))]


@router.post("/templates/{name}/accept", response_model=TemplateShape)
async def accept_judgement(
    factory: WritersFactory, name: TemplateId, wanted: AcceptWanted
) -> Entry:
    """Keep words a judge failed; what the rules fail stays failed."""
    return _shape(await factory.perform(operations.keep_judged, name, wanted.check))


@router.post("/templates/{name}/status")
async def claim(factory: WritersFactory, name: TemplateId, wanted: StatusWanted) -> Entry:
    """Open a complete template for revision, or close it; a claim beyond its file is told."""
    return (await factory.perform(claim_template, name, wanted.status)).to_json()


def _shape(template: Template) -> Entry:
    return {
        **template.to_json(),
        "checks": [each.to_json() for each in template.checks],
        "failed_checks": [each.to_json() for each in template.failed_checks],
    }

"""The Story Bible: the work order, the four templates, and what the writer keeps of them."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue

from callboard.api.project import Entry, Paged, Shown, Wanted
from callboard.packs.writers_factory.bible import operations
from callboard.packs.writers_factory.bible.orders import Template, find_gaps
from callboard.packs.writers_factory.doors.routes.request import (
    Name,
    WritersFactory,
)
from callboard.packs.writers_factory.modes.operations import claim_template

router = APIRouter(prefix="/factory", tags=["factory: bible"])

TemplateId = Annotated[
    str, Path(max_length=60, description="`protagonist`, `beat_sheet`, `theme` or `world_rules`.")
]


class TemplateShape(Shown):
    """A template as its file has it now, with every check."""

    name: str
    status: str
    fields: dict[str, str | list[str]]
    missing_fields: list[str]
    file_path: str
    sources: dict[str, str]
    checks: list[Entry]
    failed_checks: list[Entry]
    problems: list[str]


class WorkOrderShape(Shown):
    """What the foundation of the book holds, and what it lacks."""

    project_id: str
    project_title: str
    templates: list[TemplateShape]
    completion_percentage: float
    unmet: list[str]
    gaps: list[Entry]


class TemplateWanted(Wanted):
    """Fields to be written; the others stay, unless they are to be replaced as a whole."""

    fields: dict[str, JsonValue] = Field(max_length=200)
    source: Name = "writer_stated"
    replace: bool = False
    strict: bool = Field(default=False, description="Write nothing that fails a check.")


class WrittenTemplate(TemplateShape):
    """A template that was written; `version` is where the text before it is kept."""

    changed: bool
    version: str | None
    warnings: list[str]


class AcceptWanted(Wanted):
    """Which judgement the writer overrules."""

    check: Name


class StatusWanted(Wanted):
    """What is claimed of a template; the file decides."""

    status: Name


@router.get("/work-order")
async def show_work_order(factory: WritersFactory) -> WorkOrderShape:
    """Show what is there and what is missing, from the files as they are now."""
    order = factory.rooms.bible.work_order()
    told = {
        **order.to_json(),
        "templates": [_shape(each) for each in order.templates],
        "unmet": list(order.unmet),
        "gaps": [
            {"template": gap.template.value, "what": gap.what, "paths": list(gap.paths)}
            for gap in find_gaps(order)
        ],
    }
    return WorkOrderShape.model_validate(told)


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


@router.get("/templates/{name}")
async def show_template(factory: WritersFactory, name: TemplateId) -> TemplateShape:
    """Show a template."""
    return TemplateShape.model_validate(_shape(factory.rooms.bible.template(name)))


@router.put("/templates/{name}")
async def write_template(
    factory: WritersFactory, name: TemplateId, wanted: TemplateWanted
) -> WrittenTemplate:
    """Write fields into a template; checks that fail are listed, or with `strict` refuse it."""
    written = await factory.perform(
        operations.fill_template, name, wanted.fields, wanted.source, wanted.replace, wanted.strict
    )
    told = {
        **_shape(written.template),
        "changed": written.changed,
        "version": written.version,
        "warnings": list(written.warnings),
    }
    return WrittenTemplate.model_validate(told)


@router.get("/templates/{name}/versions")
async def list_versions(factory: WritersFactory, name: TemplateId, page: Paged) -> list[Entry]:
    """List the texts that were replaced, oldest first, with where each is kept."""
    return [dict(each) for each in page.cut(factory.rooms.bible.versions(name))]


@router.post("/templates/{name}/accept")
async def accept_judgement(
    factory: WritersFactory, name: TemplateId, wanted: AcceptWanted
) -> TemplateShape:
    """Keep words a judge failed; what the rules fail stays failed."""
    kept = await factory.perform(operations.keep_judged, name, wanted.check)
    return TemplateShape.model_validate(_shape(kept))


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

"""The plan of the scenes: the outline the writer approves, and the brief of each scene."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field, JsonValue

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, started
from callboard.packs.writers_factory.doors.routes.request import (
    Name,
    Number,
    SceneId,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript import outline_to_json
from callboard.packs.writers_factory.manuscript.operations import restore_outline as bring_back
from callboard.packs.writers_factory.manuscript.outline import OutlineVersion, uncovered_beats
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.scenes import operations

router = APIRouter(prefix="/factory", tags=["factory: planning"])

OutlineNumber = Annotated[int, Path(ge=1, le=1_000_000)]


class OutlineWanted(Wanted):
    """The whole outline, as the writer wants it."""

    scenes: list[PlannedScene] = Field(min_length=1, max_length=2_000)


class ApprovalWanted(Wanted):
    """The writer's own outline in place of the proposed one, if there is one."""

    scenes: list[PlannedScene] | None = Field(default=None, max_length=2_000)


class ProposalWanted(Wanted):
    """In which session an outline is proposed, and how long and of what shape the book is to be."""

    session_id: SessionId = None
    scenes: Annotated[int | None, Field(ge=1, le=400)] = None
    words: Annotated[int | None, Field(ge=1, le=5_000_000)] = None
    chapters: Annotated[int | None, Field(ge=1, le=400)] = None


class OutlineShape(Shown):
    """The outline in force, the one that waits for approval, and beats no scene serves."""

    scenes: list[Entry]
    proposal: Entry | None
    uncovered_beats: list[int]


class ScaffoldWanted(Wanted):
    """The scene a brief is wanted for, and from which sources."""

    chapter: Number
    scene: Number
    title: Annotated[str, Field(max_length=200)] = ""
    enrichment: list[Name] = Field(default_factory=list[str], max_length=20)
    session_id: SessionId = None


class ScaffoldShape(Shown):
    """The brief of a scene."""

    scaffold_id: str
    title: str
    beat_alignment: str
    word_target: int
    pov_character: str
    characters_present: list[str]
    version: int
    warnings: list[str]
    is_approved: bool


class ChangesWanted(Wanted):
    """What the writer changes in a brief before approving it."""

    changes: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue], max_length=50)
    # A brief the scene had before, to be brought back.
    version: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


@router.get("/outline")
async def show_outline(factory: WritersFactory) -> OutlineShape:
    """Show the approved outline, and a proposed one if it waits."""
    return _outline(factory)


@router.post("/outline", status_code=202)
async def propose_outline(
    factory: WritersFactory, wanted: ProposalWanted | None = None
) -> StartedJob:
    """Have the scenes of the book proposed from its beat sheet; nothing is taken by that."""
    asked = wanted or ProposalWanted()
    size = asked.model_dump(include={"scenes", "words", "chapters"}, exclude_none=True)
    return started(await factory.start("plan_scenes", size, session_id=asked.session_id))


@router.put("/outline")
async def set_outline(factory: WritersFactory, wanted: OutlineWanted) -> OutlineShape:
    """Take the writer's own outline; every fault is named at once."""
    await factory.perform(operations.approve_outline, wanted.scenes)
    return _outline(factory)


@router.post("/outline/approve")
async def approve_outline(
    factory: WritersFactory, wanted: ApprovalWanted | None = None
) -> OutlineShape:
    """Take the proposed outline, or a changed one in its place."""
    given = wanted.scenes if wanted is not None else None
    await factory.perform(operations.approve_outline, given)
    return _outline(factory)


@router.get("/outline/versions")
async def list_outlines(factory: WritersFactory, page: Paged) -> list[OutlineVersion]:
    """List every outline the writer approved, oldest first; the last is the one in force."""
    return page.cut(factory.rooms.manuscript.outline_versions())


@router.post("/outline/versions/{number}/restore")
async def restore_outline(factory: WritersFactory, number: OutlineNumber) -> OutlineShape:
    """Bring an outline back that was replaced; the one it replaces now is kept as well."""
    await factory.perform(bring_back, number)
    return _outline(factory)


@router.get("/scaffolds")
async def list_scaffolds(factory: WritersFactory) -> list[ScaffoldShape]:
    """List the briefs of the scenes, in story order."""
    rooms = factory.rooms
    found = (rooms.scenes.scaffold(each.scene_id) for each in rooms.manuscript.scenes())
    return [ScaffoldShape.model_validate(each.to_json()) for each in found if each is not None]


@router.post("/scaffolds", status_code=202)
async def make_scaffold(factory: WritersFactory, wanted: ScaffoldWanted) -> StartedJob:
    """Have the brief of one scene made from the outline, the graph and the memory."""
    args = wanted.model_dump(exclude={"session_id"})
    run = await factory.start("scaffold", args, session_id=wanted.session_id, is_sure=True)
    return started(run, scaffold_id=f"ch{wanted.chapter}-sc{wanted.scene}")


@router.get("/scaffolds/active")
async def show_active_scaffold(factory: WritersFactory) -> ScaffoldShape | None:
    """Show the brief of the scene that is being written, if there is one."""
    found = factory.rooms.scenes.active_scaffold()
    return None if found is None else ScaffoldShape.model_validate(found.to_json())


@router.get("/scaffolds/{scene_id}")
async def show_scaffold(factory: WritersFactory, scene_id: SceneId) -> ScaffoldShape:
    """Show the brief of a scene."""
    found = factory.rooms.scenes.require_scaffold(scene_id)
    return ScaffoldShape.model_validate(found.to_json())


@router.get("/scaffolds/{scene_id}/versions")
async def list_scaffold_versions(
    factory: WritersFactory, scene_id: SceneId, page: Paged
) -> list[ScaffoldShape]:
    """List every brief a scene had, oldest first; the last is the one it has."""
    found = page.cut(factory.rooms.scenes.scaffold_versions(scene_id))
    return [ScaffoldShape.model_validate(each.to_json()) for each in found]


@router.post("/scaffolds/{scene_id}/approve")
async def approve_scaffold(
    factory: WritersFactory, scene_id: SceneId, wanted: ChangesWanted | None = None
) -> ScaffoldShape:
    """Approve a brief, changed or not; it becomes the active one."""
    given = wanted or ChangesWanted()
    approved = await factory.perform(
        operations.approve_scaffold, scene_id, given.changes, given.version
    )
    return ScaffoldShape.model_validate(approved.to_json())


def _outline(factory: Factory) -> OutlineShape:
    scenes, waiting = factory.rooms.manuscript.outline(), factory.rooms.scenes.outline_proposal()
    proposal = None
    if waiting is not None:
        proposal = {"scenes": outline_to_json(waiting[0]), "notes": list(waiting[1])}
    return OutlineShape(
        scenes=[{"id": each.id, **asdict(each)} for each in scenes],
        proposal=proposal,
        uncovered_beats=list(uncovered_beats(scenes)) if scenes else [],
    )

"""The scenes: their texts and versions, drafts in several ways, and the way into the book."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, started
from callboard.packs.writers_factory.doors.routes.request import (
    ModelName,
    Name,
    Note,
    SceneId,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import Factory, take_variant
from callboard.packs.writers_factory.manuscript import SceneVersion, meta_to_json
from callboard.packs.writers_factory.model import SceneMeta

router = APIRouter(prefix="/factory/scenes", tags=["factory: scenes"])

VersionNumber = Annotated[int, Path(ge=1, le=1_000_000)]


class SceneShape(Shown):
    """What is known of a scene beside its text."""

    scene_id: str
    chapter: int
    scene: int
    title: str
    status: str
    word_count: int
    path: str


class SceneText(Shown):
    """The text of a scene, or of one of its versions."""

    scene_id: str
    text: str


class VariantShape(Shown):
    """One draft of a scene; without a text it failed, and `error` says why."""

    id: str
    scene_id: str
    strategy: str
    text: str
    word_count: int
    flags: list[Entry]
    error: str
    provenance: list[str]


class VariantsWanted(Wanted):
    """In which ways a scene is to be drafted; without strategies, in the usual three."""

    strategies: list[Name] = Field(default_factory=list[str], max_length=10)
    word_target: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    model: ModelName | None = None
    session_id: SessionId = None


class SelectWanted(Wanted):
    """A draft, by its id or its strategy."""

    variant_id: Name


class HybridPart(Wanted):
    """Paragraphs of a draft, such as `2-4`."""

    variant: Name
    paragraphs: Annotated[str, Field(max_length=20)] = "1-"


class HybridWanted(Wanted):
    """Parts to be joined, a wish, or both."""

    parts: list[HybridPart] = Field(default_factory=list[HybridPart], max_length=200)
    wishes: Note = ""
    session_id: SessionId = None


class AcceptWanted(Wanted):
    """Which draft is accepted; without one, the text the scene has."""

    variant_id: Annotated[str, Field(max_length=200)] = ""
    force: bool = Field(default=False, description="Even if it contradicts cards or scenes.")
    session_id: SessionId = None


@router.get("")
async def list_scenes(factory: WritersFactory, page: Paged) -> list[SceneShape]:
    """List the scenes in story order, planned ones too."""
    return [_shape(factory, each) for each in page.cut(factory.rooms.manuscript.scenes())]


@router.get("/{scene_id}")
async def show_scene(factory: WritersFactory, scene_id: SceneId) -> SceneShape:
    """Show what is known of a scene."""
    return _shape(factory, factory.rooms.manuscript.scene(scene_id))


@router.get("/{scene_id}/text")
async def read_scene(factory: WritersFactory, scene_id: SceneId) -> SceneText:
    """Read a scene; empty while it is not written."""
    return SceneText(scene_id=scene_id, text=factory.rooms.manuscript.text(scene_id))


@router.get("/{scene_id}/versions")
async def list_versions(
    factory: WritersFactory, scene_id: SceneId, page: Paged
) -> list[SceneVersion]:
    """List the versions of a scene, oldest first; the last is the scene as it is."""
    _require(factory, scene_id)
    return page.cut(factory.rooms.manuscript.versions(scene_id))


@router.get("/{scene_id}/versions/{number}")
async def read_version(
    factory: WritersFactory, scene_id: SceneId, number: VersionNumber
) -> SceneText:
    """Read an older version."""
    _require(factory, scene_id)
    text = factory.rooms.manuscript.version_text(scene_id, number)
    return SceneText(scene_id=scene_id, text=text)


@router.get("/{scene_id}/variants")
async def list_variants(
    factory: WritersFactory, scene_id: SceneId, page: Paged
) -> list[VariantShape]:
    """List the drafts of a scene, oldest first."""
    _require(factory, scene_id)
    found = page.cut(factory.rooms.scenes.variants(scene_id))
    return [VariantShape.model_validate(each.to_json()) for each in found]


@router.post("/{scene_id}/variants", status_code=202)
async def write_variants(
    factory: WritersFactory, scene_id: SceneId, wanted: VariantsWanted | None = None
) -> StartedJob:
    """Have a scene with an approved brief drafted, once per strategy."""
    chosen = wanted or VariantsWanted()
    args = {**chosen.model_dump(exclude={"session_id"}), "scaffold_id": scene_id}
    session = chosen.session_id
    return started(await factory.start("write_scene", args, session_id=session, is_sure=True))


@router.post("/{scene_id}/select")
async def select(factory: WritersFactory, scene_id: SceneId, wanted: SelectWanted) -> SceneVersion:
    """Take a draft as the scene's text; it is not accepted by that."""
    return await factory.perform(take_variant, scene_id, wanted.variant_id)


@router.post("/{scene_id}/hybrid", status_code=202)
async def join_parts(
    factory: WritersFactory, scene_id: SceneId, wanted: HybridWanted
) -> StartedJob:
    """Join parts of drafts; every paragraph remembers where it comes from."""
    parts = [each.model_dump() for each in wanted.parts]
    args = {"scene_id": scene_id, "parts": parts, "wishes": wanted.wishes}
    session = wanted.session_id
    return started(await factory.start("hybrid", args, session_id=session, is_sure=True))


@router.post("/{scene_id}/accept", status_code=202)
async def accept(
    factory: WritersFactory, scene_id: SceneId, wanted: AcceptWanted | None = None
) -> StartedJob:
    """Accept a scene: it enters the book and the graph, and the next one is proposed."""
    chosen = wanted or AcceptWanted()
    args = {"scene_id": scene_id, "variant_id": chosen.variant_id, "force": chosen.force}
    session = chosen.session_id
    return started(await factory.start("accept", args, session_id=session, is_sure=True))


def _require(factory: Factory, scene_id: str) -> SceneMeta:
    return factory.rooms.manuscript.scene(scene_id)


def _shape(factory: Factory, meta: SceneMeta) -> SceneShape:
    told = {**meta_to_json(meta), "path": factory.rooms.manuscript.path(meta.scene_id)}
    return SceneShape.model_validate(told)

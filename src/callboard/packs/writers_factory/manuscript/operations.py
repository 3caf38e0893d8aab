"""What can be done to the manuscript: chapters named, a scene or an outline brought back."""

from typing import Annotated

from pydantic import Field

from callboard.operations import operation
from callboard.packs.writers_factory.manuscript.archive import SceneVersion
from callboard.packs.writers_factory.manuscript.manuscript import Manuscript
from callboard.packs.writers_factory.model import PlannedScene, SceneId


@operation(post="/scenes/{scene_id}/versions/{number}/restore")
async def restore_scene(
    manuscript: Manuscript, scene_id: SceneId, number: Annotated[int, Field(ge=1, le=1_000_000)]
) -> SceneVersion:
    """Make an older version the scene again; the one it replaces is kept."""
    manuscript.scene(scene_id)
    return await manuscript.restore(scene_id, number)


@operation(post="/scenes/{scene_id}/undo")
async def undo_scene(manuscript: Manuscript, scene_id: SceneId) -> SceneVersion:
    """Take the last change of a scene back, whoever made it."""
    manuscript.scene(scene_id)
    return await manuscript.undo(scene_id)


@operation()
async def restore_outline(manuscript: Manuscript, number: int) -> tuple[PlannedScene, ...]:
    """Bring an outline back that was replaced; the one it replaces now is kept as well."""
    return await manuscript.restore_outline(number)


@operation(put="/chapters/{chapter}/title")
async def name_chapter(
    manuscript: Manuscript,
    chapter: Annotated[int, Field(ge=1, le=9_999)],
    title: Annotated[str, Field(max_length=200)],
) -> dict[int, str]:
    """Give a chapter a title, kept in its first scene's file; an empty one takes it back."""
    return await manuscript.chapters.name(chapter, title)

"""What can be done about scenes on their way into the book."""

from typing import Annotated

from pydantic import Field

from callboard.core.canonical import Json
from callboard.operations import AGENT, operation
from callboard.packs.writers_factory.action import Cause, Done, Filled, start_job
from callboard.packs.writers_factory.model import DIRECTOR, PlannedScene, SceneMeta
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.workspace import Workspace


@operation(who=(AGENT,), modes=(DIRECTOR,))
async def plan_scenes(
    workspace: Workspace,
    cause: Cause,
    scenes: int | None = None,
    words: int | None = None,
    chapters: int | None = None,
) -> Done:
    """Propose an outline of scenes from the beat sheet."""
    args = {"scenes": scenes, "words": words, "chapters": chapters}
    return await start_job(workspace, cause, "plan_scenes", args)


@operation(
    who=(AGENT,),
    modes=(DIRECTOR,),
    example={"chapter": 4, "scene": 2, "title": "The lamp goes out"},
)
async def generate_scaffold(
    workspace: Workspace,
    cause: Cause,
    chapter: int,
    scene: int,
    title: Annotated[str, Field(min_length=1)],
    enrichment: list[str] | None = None,
) -> Done:
    """Make the structural brief of one scene."""
    args = {"chapter": chapter, "scene": scene, "title": title, "enrichment": enrichment}
    return await start_job(workspace, cause, "scaffold", args)


@operation(who=(AGENT,), modes=(DIRECTOR,))
async def write_scene(
    workspace: Workspace,
    cause: Cause,
    scaffold_id: Annotated[str, Field(min_length=1)],
    strategies: list[str] | None = None,
    word_target: int | None = None,
) -> Done:
    """Draft a scaffolded scene once per strategy."""
    args = {"scaffold_id": scaffold_id, "strategies": strategies, "word_target": word_target}
    return await start_job(workspace, cause, "write_scene", args)


@operation(who=(AGENT,), modes=(DIRECTOR,))
async def select_variant(scenes: Scenes, scene_id: Filled, variant_id: Filled) -> Done:
    """Take the variant the writer chose."""
    version = await scenes.select(scene_id, variant_id)
    told = {"scene_id": scene_id, "variant_id": variant_id, "version": str(version)}
    return Done(f"{variant_id} is taken for {scene_id}", told)


@operation(who=(AGENT,), modes=(DIRECTOR,))
async def create_hybrid(
    workspace: Workspace,
    cause: Cause,
    scene_id: Annotated[str, Field(min_length=1)],
    parts: Annotated[
        str, Field(min_length=1, description="BALANCED#1; ACTION_EMPHASIS#2-4, or a wish")
    ],
) -> Done:
    """Merge parts of variants the writer named."""
    return await start_job(workspace, cause, "hybrid", {"scene_id": scene_id, "parts": parts})


@operation(undo="restore_outline")
async def approve_outline(
    scenes: Scenes, outline: list[PlannedScene] | None = None
) -> tuple[PlannedScene, ...]:
    """Take the proposed outline, or the writer's own in its place; every fault is named at once."""
    return await scenes.approve_outline(outline)


@operation()
async def approve_scaffold(
    scenes: Scenes,
    scaffold_id: str,
    changes: dict[str, Json] | None = None,
    version: int | None = None,
) -> SmartScaffold:
    """Approve a brief, changed or not; it becomes the active one."""
    return await scenes.approve_scaffold(scaffold_id, changes, version=version)


@operation(delete="/scaffolds/{scene_id}")
async def drop_scene(scenes: Scenes, scene_id: Annotated[str, Field(max_length=64)]) -> SceneMeta:
    """Remove a scene that is neither planned nor written, with its brief."""
    return await scenes.drop(scene_id)

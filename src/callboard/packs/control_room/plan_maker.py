"""What planning needs to know of a novel: kinds of work, what is there, what makes what."""

from typing import Final

from callboard.choreography.planning import PlanMaker
from callboard.choreography.recipe import Recipe, recipe_shelf
from callboard.choreography.recipe.definition import CommitAction
from callboard.library.story.index import story_index
from callboard.packs.control_room.grounds import PACK
from callboard.studio.studio import Studio

_MOST_SCENES: Final = 60


def plan_maker_of(studio: Studio) -> PlanMaker:
    """Return who makes plans for this project."""
    shelf = recipe_shelf(studio, PACK)

    def recipes() -> list[Recipe]:
        return [each.recipe for each in shelf.library.recipes()]

    def kinds_of_work() -> str:
        return "\n".join(
            f'- {recipe.label}: say "{recipe.task_patterns[0]}"'
            for recipe in recipes()
            if recipe.task_patterns
        )

    def makes(recipe_id: str) -> bool:
        found = shelf.library.find(recipe_id)
        return found is not None and any(
            each.action is CommitAction.WRITE_FILE for each in found.recipe.commit
        )

    return PlanMaker(shelf.router.route, kinds_of_work, lambda: _what_is_there(studio), makes)


def _what_is_there(studio: Studio) -> str:
    index = story_index(studio.tools.context(""))
    lines = [f"{len(index.scenes)} scenes, {len(index.canon)} canon cards"]
    outline = index.outline_tree
    if outline is not None:
        lines += [
            f"outline: scene {scene.number or scene.index}: {scene.title}"
            for scene in outline.entries[:_MOST_SCENES]
        ]
    lines += [
        f"written: scene {scene.scene_number}: {scene.title} ({scene.path})"
        for scene in index.scenes[:_MOST_SCENES]
    ]
    return "\n".join(lines)

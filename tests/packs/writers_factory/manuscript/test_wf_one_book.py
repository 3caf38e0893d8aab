"""One folder, two packs: Control Room's story tools and the Factory see the same book."""

from pathlib import Path
from typing import Any

import pytest

from callboard.choreography.recipe import RecipeLibrary
from callboard.library.story.index import StoryIndex, story_index
from callboard.packs.control_room.evidence import FOLDER
from callboard.packs.control_room.requests import seeds_from
from callboard.packs.control_room.tools import consistency_checker, file_locator
from callboard.packs.writers_factory.manuscript import Manuscript, parse_scene_id
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus
from callboard.tools import ProjectFiles, ToolContext

pytestmark = pytest.mark.anyio
PLACES = ("ch1-sc1", "ch1-sc2", "ch2-sc1", "ch10-sc1")


def context_of(root: Path) -> ToolContext:
    return ToolContext(ProjectFiles(root, root / ".callboard"), "sess_test")


async def tell(book: Manuscript, scene_id: str, title: str, day: int, text: str) -> None:
    chapter, scene = parse_scene_id(scene_id) or (0, 0)
    meta = SceneMeta(
        scene_id,
        chapter,
        scene,
        title=title,
        status=SceneStatus.DRAFTED,
        story_time=f"1204-01-{day}",
    )
    # The days go backwards on purpose.
    await book.save(scene_id, text, meta, reason="written", force=True)


async def told_book(book: Manuscript, root: Path) -> StoryIndex:
    """Write four scenes whose days go backwards; one has an older version."""
    for number, scene_id in enumerate(reversed(PLACES)):
        await tell(book, scene_id, f"Night {number}", 10 + number, "She wound the clockwork.")
    await tell(book, "ch1-sc1", "Night 3", 13, "She wound the clockwork again.")
    (root / "content/Export").mkdir()
    (root / "content/Export/Book.md").write_text("# Chapter 1\n\nAll of it.")
    return story_index(context_of(root))


async def test_both_packs_see_the_same_scenes_in_the_same_order(
    book: Manuscript, root: Path
) -> None:
    index = await told_book(book, root)
    scenes = book.scenes()
    assert [each.scene_id for each in scenes] == list(PLACES)
    assert [each.label for each in index.scenes] == list(PLACES)
    told = [(each.title, each.story_time, each.word_count) for each in scenes]
    assert [(each.title, each.when, each.word_count) for each in index.scenes] == told
    assert not [each for each in index.files if each.path.startswith("content/Export")]
    assert not [each for each in index.files if each.path.startswith("content/Archive")]


async def test_an_outline_file_does_not_change_the_order_of_numbered_chapters(
    book: Manuscript, root: Path
) -> None:
    await told_book(book, root)
    (root / "outline.md").write_text("# B\n\n### Scene 1: Night 0\n\n### Scene 2: Night 3\n")
    index = story_index(context_of(root))
    assert [each.label for each in index.scenes] == list(PLACES)


async def test_the_days_of_the_scenes_are_compared(book: Manuscript, root: Path) -> None:
    index = await told_book(book, root)
    args = consistency_checker.parse({"file_paths": [each.path for each in index.scenes]})
    found = await consistency_checker.function(context_of(root), args)
    assert "dates go back 3 times" in found.payload["findings"][0]["message"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Check ch2-sc1 against canon", ["ch2-sc1"]),
        ("Check chapter 2, scene 1", ["ch2-sc1"]),
        ("Check chapter 1", ["ch1-sc1", "ch1-sc2"]),
        ("Check scene 2", ["ch1-sc2"]),
        # Three chapters have a first scene: all are found, and none is taken for the one meant.
        ("Check scene 1", ["ch1-sc1", "ch2-sc1", "ch10-sc1"]),
    ],
)
async def test_a_scene_is_found_by_the_name_the_factory_gives_it(
    book: Manuscript, root: Path, words: str, named: list[str]
) -> None:
    index = await told_book(book, root)
    labels = {each.path: each.label for each in index.scenes}
    recipe = RecipeLibrary(FOLDER / "recipes", None).get("analytical_prose").recipe
    path: Any = seeds_from(index, words, recipe).get("scene_path")
    assert (labels[path] if path else None) == (named[0] if len(named) == 1 else None)
    args = file_locator.parse({"search_criteria": words})
    found = await file_locator.function(context_of(root), args)
    best = {each["path"] for each in found.payload["matches"] if each["score"] >= 40}
    assert {labels[each] for each in best} == set(named)


async def test_what_control_room_drafts_is_a_scene_of_the_factory(
    book: Manuscript, root: Path
) -> None:
    await told_book(book, root)
    (root / "outline.md").write_text(
        "# B\n\n## Chapter 2: Low\n\n### Scene 1: Night 1\n\n### Scene 2: The Reef\n"
    )
    index = story_index(context_of(root))
    recipe = RecipeLibrary(FOLDER / "recipes", None).get("creative_draft_scene").recipe
    path = str(seeds_from(index, 'Draft "The Reef"', recipe)["scene_path"])
    assert path == "content/Manuscript/Chapter_02/Scene_02.md"
    (root / path).write_text("---\nwhen: 1204-01-12\n---\n# The Reef\n\nThe boat struck.\n")
    scenes = {each.scene_id: each for each in book.scenes()}
    reef = scenes["ch2-sc2"]
    assert (reef.title, reef.story_time, reef.word_count) == ("The Reef", "1204-01-12", 3)
    places = [each.label for each in story_index(context_of(root)).scenes]
    assert places == list(scenes)

"""Seeds of Control Room: what a request says is looked up in the story, and nothing is made up."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import callboard.packs.control_room as control_room
from callboard.choreography.recipe import RecipeLibrary, Router
from callboard.library.story.index import story_index
from callboard.packs.control_room.requests import seeds_from, task_router
from callboard.tools import ProjectFiles, ToolContext

pytestmark = pytest.mark.anyio

FORTRESS = Path(__file__).parents[2] / "fortress" / "project"
RECIPES = Path(control_room.__file__).parent / "recipes"
ENVOY = "Story/Scenes/SCN-the-envoy.md"
BREACH = "Story/Scenes/SCN-02-the-breach.md"
ASHES = "Story/Scenes/SCN-03-ashes.md"
NEW = "Story/Scenes/SCN-x.md"


def context_of(root: Path) -> ToolContext:
    return ToolContext(ProjectFiles(root, root / ".callboard"), "sess_x")


def route(root: Path, request: str) -> dict[str, Any]:
    context = context_of(root)
    library = RecipeLibrary(RECIPES, root / ".callboard" / "recipes")
    router = Router(library, lambda text, recipe: seeds_from(story_index(context), text, recipe))
    return router.route(request).to_json()


@pytest.mark.req("CR-154", "CR-150")
@pytest.mark.parametrize(
    ("request_text", "recipe_id", "args"),
    [
        ("Write Scene 5", "creative_draft_scene", {"scene_path": ENVOY}),
        ("write the next scene", "creative_draft_scene", {"scene_path": ENVOY}),
        ('Draft the scene "The Envoy"', "creative_draft_scene", {"scene_path": ENVOY}),
        (f"draft scene {NEW}", "creative_draft_scene", {"scene_path": NEW}),
        ("draft scene 2", "creative_draft_scene", {"scene_path": BREACH}),
        ("Draft a scene", "creative_draft_scene", {}),
        ("Draft scene 77", "creative_draft_scene", {}),
        ("write scenes 5 and 6", "creative_draft_scene", {}),
        ("Consistency check (scenes 21–22 vs canon)", "analytical_consistency", {}),
        ("Validate scene 2", "analytical_scene_validate", {"scene_path": BREACH}),
        ("Validate scene 5", "analytical_scene_validate", {}),
        (f"review prose of {ASHES}", "analytical_prose", {"scene_path": ASHES}),
        ("audit foreshadowing", "analytical_foreshadow", {}),
        ("foreshadow audit of scenes 1-4", "analytical_foreshadow", {}),
        ("audit foreshadowing of the whole book", "analytical_foreshadow", {}),
        ("foreshadow the key and the thaw", "analytical_foreshadow", {"themes": ["key", "thaw"]}),
        ("foreshadowing of the key and thaw", "analytical_foreshadow", {"themes": ["key", "thaw"]}),
        (
            "update canon for Kael from scene 3",
            "structural_canon",
            {
                "scene_path": ASHES,
                "canon_paths": ["Compendium/Characters/CHAR-Kael.md"],
            },
        ),
        ("restructure the outline", "structural_outline", {}),
    ],
)  # fmt: skip
def test_seeds_of_a_request(request_text: str, recipe_id: str, args: dict[str, Any]) -> None:
    routing = route(FORTRESS, request_text)
    assert (routing["recipe_id"], routing["initial_args"]) == (recipe_id, args)
    wanted = {"creative_draft_scene": {"scene_path"}, "analytical_foreshadow": {"themes"}}
    missing = wanted.get(recipe_id, set()) - set(args)
    assert missing <= set(routing["missing_args"])


@pytest.mark.req("CR-153", "CR-152")
async def test_the_tool_says_what_the_router_says(tmp_path: Path) -> None:
    root = tmp_path / "fortress"
    shutil.copytree(FORTRESS, root)
    (root / ".callboard" / "recipes").mkdir(parents=True)
    context = context_of(root)
    for request in ("Write Scene 5", "make it better", "beat sheet, please"):
        args = task_router.parse({"user_request": request})
        result = await task_router.function(context, args)
        assert result.payload == route(root, request)
        told = "creative_draft_scene" if request == "Write Scene 5" else "Not routable"
        assert told in result.summary
    text = (RECIPES / "structural_outline.json").read_text()
    changed = text.replace('"structural_outline"', '"beat_sheet"').replace(
        '"outline"]', '"beat sheet"]'
    )
    (root / ".callboard" / "recipes" / "beats.json").write_text(changed)
    result = await task_router.function(context, task_router.parse({"user_request": "beat sheet"}))
    assert result.payload["recipe_id"] == "beat_sheet"


def test_a_folder_without_outline_or_scenes_gives_no_seeds(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Nothing here.\n")
    assert route(tmp_path, "Write scene 5")["initial_args"] == {}
    assert route(tmp_path, "write the next scene")["initial_args"] == {}

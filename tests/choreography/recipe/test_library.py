"""Recipes on disk: read strictly, checked against the house, replaced and added while it runs."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from little_house import OpenHouse, bundled, play

from callboard.choreography.recipe import RecipeInvalid, RecipeShelf, recipe_shelf
from callboard.choreography.recipe.definition import recipe_from
from callboard.core.errors import NotFound
from callboard.core.vocabulary import RunState

pytestmark = pytest.mark.anyio

Change = Callable[[dict[str, Any]], None]


def put(project: Path, recipe: dict[str, Any], name: str = "mine.json") -> None:
    folder = project / ".callboard" / "recipes"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(recipe))


def told(shelf: RecipeShelf) -> list[tuple[str, str]]:
    return [(each.file, each.field) for each in shelf.library.shelves().warnings]


def changed(change: Change) -> dict[str, Any]:
    recipe = copy.deepcopy(bundled())
    change(recipe)
    return recipe


def _set(*path: Any) -> Change:
    *way, key, value = path

    def change(recipe: dict[str, Any]) -> None:
        place: Any = recipe
        for step in way:
            place = place[step]
        place[key] = value

    return change


@pytest.mark.req("CR-96", "CR-92", "CR-93", "CR-94", "CR-147", "CR-43")
@pytest.mark.parametrize(
    ("change", "field", "word"),
    [
        (_set("recipe_id", "two words"), "recipe_id", "two words"),
        (_set("label", None), "label", "missing"),
        (_set("task_patterns", "draft"), "task_patterns", "list"),
        (_set("phase_a", {}), "phase_a", "list"),
        (_set("surprise", 1), "surprise", "not known"),
        (_set("phase_a", 0, "tool", "teleport"), "phase_a[0].tool", "teleport"),
        (_set("phase_a", 0, "tool", "write_file"), "phase_a[0].tool", "changes things"),
        (_set("phase_a", 0, "args", {"query": "x", "colour": 1}), "phase_a[0].args.colour", "find"),
        (_set("phase_a", 0, "args", {}), "phase_a[0].args", "query"),
        (_set("phase_a", 1, "step_id", "look"), "phase_a[1].step_id", "twice"),
        (_set("phase_b", 1, "output_slot", "scene_brief"), "phase_b[1].output_slot", "twice"),
        (_set("phase_b", 1, "output_slot", "task"), "phase_b[1].output_slot", "reserved"),
        (_set("phase_b", 1, "output_slot", "inputs"), "phase_b[1].output_slot", "reserved"),
        (_set("phase_b", 0, "agent_archetype", "poet"), "phase_b[0].agent_archetype", "poet"),
        (_set("phase_b", 0, "prompt_type", "sing"), "phase_b[0].prompt_type", "sing"),
        (_set("phase_b", 0, "input_slots", ["nothing"]), "phase_b[0].input_slots[0]", "nothing"),
        (_set("phase_b", 0, "input_slots", ["critique"]), "phase_b[0].input_slots[0]", "circle"),
        (_set("phase_b", 1, "input_slots", ["draft"]), "phase_b[1].input_slots[0]", "circle"),
        (_set("phase_b", 2, "input_slots", []), "phase_b[2].prompt_type", "{{draft}}"),
        (_set("dod", 0, "check", "is_good"), "dod[0].check", "is_good"),
        (_set("dod", 0, "slot", "nowhere"), "dod[0]", "nowhere"),
        (_set("dod", 3, "field", "a[*]"), "dod[3].field", "a[*]"),
        (_set("commit", 0, "mode", "overwrite"), "commit[0].mode", "overwrite"),
        (_set("commit", 0, "path", {"$ref": "task.title"}), "commit[0]", "task.title"),
        (
            _set("phase_a", 1, "args", "outline_path", {"$ref": "discovery.matches[*]"}),
            "phase_a[1].args.outline_path",
            "matches[*]",
        ),
        (
            _set("phase_a", 0, "args", "query", {"$ref": "canon_context.conflicts"}),
            "phase_a[0].args",
            "later",
        ),
    ],
)
async def test_a_wrong_recipe_is_told_with_file_and_field_and_the_bundled_one_stays(
    open_house: OpenHouse, project: Path, change: Change, field: str, word: str
) -> None:
    put(project, changed(change))
    async with open_house() as studio:
        shelf = recipe_shelf(studio, "little")
        problems = [str(each) for each in shelf.library.shelves().warnings]
        assert (".callboard/recipes/mine.json", field) in told(shelf), problems
        assert any(word in each for each in problems), problems
        found = shelf.library.get("draft")
        assert found.source == "bundled"
        assert found.require_sound().recipe_id == "draft"


async def test_a_circle_of_refs_names_the_steps(open_house: OpenHouse, project: Path) -> None:
    recipe = bundled()
    recipe["phase_a"][0]["args"]["query"] = {"$ref": "outline_beat.path"}
    put(project, recipe)
    async with open_house() as studio:
        problems = recipe_shelf(studio, "little").library.shelves().warnings
    assert any("look → beats → look" in each.message for each in problems)


async def test_a_step_id_that_is_another_steps_slot_is_ambiguous(
    open_house: OpenHouse, project: Path
) -> None:
    put(project, changed(_set("phase_a", 0, "step_id", "draft")))
    async with open_house() as studio:
        problems = recipe_shelf(studio, "little").library.shelves().warnings
    assert any("ambiguous" in each.message for each in problems)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', "null", '{"a": NaN}', "[" * 5000, "\ufeff{}"]
)
async def test_a_file_that_is_no_recipe_is_a_warning(
    open_house: OpenHouse, project: Path, text: str
) -> None:
    (project / ".callboard" / "recipes" / "bad.json").write_text(text)
    async with open_house() as studio:
        shelf = recipe_shelf(studio, "little")
        assert ".callboard/recipes/bad.json" in {file for file, _ in told(shelf)}
        assert set(shelf.names()) == {"draft", "note", "report"}


async def test_bytes_that_are_no_text_and_two_files_of_one_id_are_warnings(
    open_house: OpenHouse, project: Path
) -> None:
    folder = project / ".callboard" / "recipes"
    (folder / "a.json").write_bytes(b"\xff\xfe\x00")
    put(project, bundled() | {"recipe_id": "same"}, "b.json")
    put(project, bundled() | {"recipe_id": "same"}, "c.json")
    async with open_house() as studio:
        warnings = recipe_shelf(studio, "little").library.shelves().warnings
    assert [each.file for each in warnings] == [
        ".callboard/recipes/a.json",
        ".callboard/recipes/c.json",
    ]


@pytest.mark.req("CR-91", "CR-95")
async def test_project_recipes_come_and_go_without_a_restart(
    open_house: OpenHouse, project: Path
) -> None:
    async with open_house() as studio:
        shelf = recipe_shelf(studio, "little")
        assert not shelf.router.route("make a beat sheet").routable
        with pytest.raises(NotFound):
            await studio.start("little/beats", {})
        recipe = bundled() | {
            "recipe_id": "beats",
            "label": "Beat sheet",
            "task_patterns": ["beat sheet"],
        }
        put(project, recipe)
        assert shelf.router.route("make a beat sheet").recipe_id == "beats"
        assert "little/beats" in studio.repertoire.choreographies()
        run = await play(studio, "beats")
        assert run.state is RunState.DONE
        put(project, bundled() | {"label": "My own draft"})
        assert shelf.library.get("draft").recipe.label == "My own draft"
        assert "beats" not in shelf.names()
        (project / ".callboard" / "recipes" / "mine.json").unlink()
        assert shelf.library.get("draft").recipe.label == "Draft a scene"


@pytest.mark.req("CR-97")
def test_required_args_are_all_task_args_it_refers_to() -> None:
    recipe = bundled()
    recipe["phase_a"][0]["args"]["query"] = {"$ref": "task.initial_args.themes[0]"}
    assert recipe_from(recipe).required_args == ("themes", "scene_path")


async def test_a_project_template_that_names_an_unknown_slot_is_told_with_its_line(
    open_house: OpenHouse, project: Path
) -> None:
    template = project / ".callboard" / "prompts" / "polish.md"
    async with open_house() as studio:
        shelf = recipe_shelf(studio, "little")
        assert shelf.library.get("draft").problems == ()
        template.write_text("Polish it.\n\n{{drafts}}\n")
        with pytest.raises(RecipeInvalid, match=r"polish.md:3.*drafts"):
            await studio.start("little/draft", {"description": "Draft scene 5"})
        template.unlink()
        assert (await play(studio)).state is RunState.DONE


@pytest.mark.req("CR-155")
async def test_an_invalid_pattern_is_a_warning_and_the_others_count(
    open_house: OpenHouse, project: Path
) -> None:
    patterns = ["beat (sheet", "(?=a)b", "beat sheet"]
    put(project, bundled() | {"recipe_id": "beats", "task_patterns": patterns})
    async with open_house() as studio:
        shelf = recipe_shelf(studio, "little")
        fields = [field for _, field in told(shelf)]
        assert fields == ["task_patterns[0]", "task_patterns[1]"]
        assert shelf.router.route("write a beat sheet").recipe_id == "beats"

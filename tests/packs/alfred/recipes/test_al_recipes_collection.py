"""Whole files: some of our own in several hands, and a public domain collection beside the project.

The collection is not ours to ship; without it the same is asked of our own files.
"""

from pathlib import Path

import pytest

from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file
from callboard.packs.alfred.kitchen.recipes.writing.texts import write_jsonld, write_markdown

OWN = sorted((Path(__file__).parent / "own").glob("*.md"))
FOLDER = Path(__file__).resolve().parents[5] / "shared" / "data" / "recipes"
COLLECTION = sorted(FOLDER.glob("*.md"))
SHELVES = [pytest.param(OWN, 5, 25, id="own")]
if FOLDER.is_dir():
    SHELVES.append(pytest.param(COLLECTION, 101, 1_001, id="collection"))


@pytest.mark.parametrize(("files", "least_files", "least_lines"), SHELVES)
def test_every_recipe_is_read_whole(files: list[Path], least_files: int, least_lines: int):
    reports = {file.stem: import_file(file) for file in files}
    assert len(reports) == len(files) >= least_files
    for stem, report in reports.items():
        recipe = report.recipes[0]
        assert recipe.name, stem
        assert recipe.ingredients, stem
        assert recipe.steps, stem
    lines = sum(report.line_count for report in reports.values())
    unsure = sum(report.unsure_count for report in reports.values())
    assert lines >= least_lines
    assert unsure / lines < 0.06


@pytest.mark.parametrize("file", [*OWN, *COLLECTION], ids=lambda file: file.stem)
def test_every_recipe_survives_the_way_out_and_back(file: Path):
    recipe = import_file(file).recipes[0]
    assert import_file(write_markdown(recipe)).recipes == (recipe,)
    back = import_file(write_jsonld(recipe)).recipes[0]
    assert [line.raw for line in back.ingredients] == [line.raw for line in recipe.ingredients]
    assert back.steps == recipe.steps


def test_what_our_own_files_say_is_understood():
    stew = import_file(OWN[0].with_name("bean-stew.md")).recipes[0]
    assert (stew.facts.servings, stew.facts.prep_minutes, stew.facts.cook_minutes) == (4, 20, 90)
    lentils = import_file(OWN[0].with_name("trailing-amounts.md")).recipes[0]
    told = [(line.quantity, line.unit, line.name) for line in lentils.ingredients[:4]]
    assert told == [
        (1, "cup", "Red lentils"),
        (1, None, "Onion"),
        (2, "tbsp", "Ghee"),
        (0.5, "tsp", "Turmeric"),
    ]
    assert lentils.ingredients[-1].optional
    pancakes = import_file(OWN[0].with_name("two-parts.md")).recipes[0]
    assert len(pancakes.ingredients) == 7

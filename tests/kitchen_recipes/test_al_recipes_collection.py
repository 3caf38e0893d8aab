"""The whole public domain collection, where it lies beside the project."""

from pathlib import Path

import pytest

from callboard.packs.alfred.kitchen.recipes import import_file, write_jsonld, write_markdown

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "recipes"
FILES = sorted(FOLDER.glob("*.md")) if FOLDER.is_dir() else []

pytestmark = pytest.mark.skipif(not FILES, reason="the collection is not beside the project")


def test_every_recipe_is_read_whole():
    reports = {file.stem: import_file(file) for file in FILES}
    assert len(reports) == len(FILES) > 100
    for stem, report in reports.items():
        recipe = report.recipes[0]
        assert recipe.name, stem
        assert recipe.ingredients, stem
        assert recipe.steps, stem
    lines = sum(report.line_count for report in reports.values())
    unsure = sum(report.unsure_count for report in reports.values())
    assert lines > 1_000
    assert unsure / lines < 0.06


def test_every_recipe_survives_the_way_out_and_back():
    for file in FILES:
        recipe = import_file(file).recipes[0]
        assert import_file(write_markdown(recipe)).recipes == (recipe,), file.stem
        back = import_file(write_jsonld(recipe)).recipes[0]
        assert [line.raw for line in back.ingredients] == [line.raw for line in recipe.ingredients]
        assert back.steps == recipe.steps, file.stem

"""Texts made to take long: what is understood of them is bounded, and what is left out is told."""

import json
import sys
from types import FrameType
from typing import Any

import pytest

from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line
from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    MOST_INGREDIENTS,
    MOST_LINES_OF_ALL,
    MOST_RECIPES,
)
from callboard.packs.alfred.kitchen.recipes.recipe import ImportReport
from callboard.packs.alfred.kitchen.recipes.text import without_markup
from sizes import size

pytestmark = pytest.mark.chaos


def understood(text: str, kind: str) -> tuple[ImportReport, int]:
    """Read a text, and count the lines somebody tried to understand."""
    calls = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is parse_line.__code__

    sys.setprofile(count)
    try:
        report = import_file(text, kind)
    finally:
        sys.setprofile(None)
    return report, calls


def recipe(lines: int) -> dict[str, Any]:
    return {"@type": "Recipe", "name": "Soup", "recipeIngredient": ["1 cup milk"] * lines}


def told(report: ImportReport) -> list[str]:
    return [warned.message for warned in report.warnings if warned.code == "too_many"]


def test_the_recipes_of_a_file_are_read_until_they_are_enough() -> None:
    report, calls = understood(json.dumps([recipe(MOST_INGREDIENTS)] * 40), "jsonld")
    enough = MOST_LINES_OF_ALL // MOST_INGREDIENTS
    assert len(report.recipes) == enough and calls == MOST_LINES_OF_ALL
    assert told(report) == [f"Only the first {enough} of 40 recipes are taken."]
    long = [{**recipe(0), "recipeIngredient": ["1 cup " + "milk " * 500] * 120}] * 6
    report, calls = understood(json.dumps(long), "jsonld")
    assert len(report.recipes) < 3 and told(report)


def test_many_recipes_of_a_usual_length_are_all_read() -> None:
    report, _ = understood(json.dumps([recipe(29)] * MOST_RECIPES), "jsonld")
    assert len(report.recipes) == MOST_RECIPES and not told(report)


def test_the_blocks_of_a_page_are_not_a_file_each() -> None:
    block = json.dumps([recipe(size(3, 30))] * MOST_RECIPES)
    page = "<html>" + f"<script type='application/ld+json'>{block}</script>" * 21
    report, calls = understood(page, "html")
    assert len(report.recipes) <= MOST_RECIPES and calls <= MOST_LINES_OF_ALL
    blocks, recipes = told(report)
    assert blocks == "Only the first 20 blocks of JSON-LD on the page are read."
    assert recipes == f"Only the first {len(report.recipes)} of 1000 recipes are taken."


@pytest.mark.parametrize("line", ["- milk and more\n  - a\n", "- 1 cup of milk\n", "- a:\n"])
def test_lists_without_end_are_understood_to_their_limit(line: str) -> None:
    listed = line * (18_000 // line.count("\n"))
    report, calls = understood(f"# Soup\n## Ingredients\n{listed}", "markdown")
    # One may be looked at as a heading and as an ingredient.
    assert calls <= 2 * MOST_LINES_OF_ALL
    assert len(report.recipes[0].ingredients) <= MOST_INGREDIENTS
    assert [message.split()[-3] for message in told(report)] == ["ingredients"]


def test_brackets_without_end_are_kept_and_doubted() -> None:
    line = parse_line("1 cup milk " + "".join(f"(a{at})" for at in range(60)))
    assert line.quantity == 1 and not line.is_sure
    assert line.note is not None and "a59" in line.note and "too_long" in line.flags


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("**1 cup *very* fresh** milk", "1 cup very fresh milk"),
        ("***1*** `cup` ~~of~~ __dry_milk__", "1 cup of dry_milk"),
        ("*a *b *c", "*a *b *c"),
        ("**flour*", "*flour"),
        ("``a`b``", "a`b"),
        ("```a```", "a"),
    ],
)
def test_marks_are_taken_off_from_the_inside(marked: str, plain: str) -> None:
    assert without_markup(marked) == plain

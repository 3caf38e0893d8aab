"""Recipes, meal plans and shopping lists written out, and read back."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar

from callboard.choreography.turn.requests import WriteOp
from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line, section_title
from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file
from callboard.packs.alfred.kitchen.recipes.recipe import ImportedRecipe, ImportedStep, RecipeFacts
from callboard.packs.alfred.kitchen.recipes.text import one_line
from callboard.packs.alfred.kitchen.recipes.writing.lists import (
    CalendarTimes,
    write_calendar,
    write_shopping,
)
from callboard.packs.alfred.kitchen.recipes.writing.records import from_row, to_write
from callboard.packs.alfred.kitchen.recipes.writing.texts import (
    kitchen_quantity,
    write_jsonld,
    write_markdown,
)
from callboard.packs.alfred.kitchen.schema import kitchen_tables

NOW = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)

TEXT = st.text(min_size=1, max_size=40).map(one_line).filter(bool)
TRICKY = st.sampled_from(
    ["## Ingredients", "- Servings: 4", "Prep time: 3 min", "1. first", "**bold** [a](b)", "---",
     "===",
     "<b>x</b> &amp; y", "a \\* b", "# Notes", "Ingredients:", "C #", "_x_ `y`", "> quote",
     "• dot", "10) ten"]
)  # fmt: skip
WORDS = TEXT | TRICKY
GROUPS = st.just("") | WORDS.filter(lambda group: group.casefold().strip(" :") != "optional")
RAWS = (
    TEXT | st.sampled_from(["2 eggs", "1 cup [milk](/m)", "- 3 onions", "**1** tbsp oil", "a: b"])
).filter(lambda raw: section_title(raw) is None and any(char.isalnum() for char in raw))


@st.composite
def recipes(draw: st.DrawFn) -> ImportedRecipe:
    """Draw any recipe an import could have given."""
    servings = draw(st.none() | st.integers(1, 80).map(lambda quarters: quarters / 4))
    high = draw(st.none() | st.integers(100, 120).map(float)) if servings else None
    return ImportedRecipe(
        name=draw(WORDS),
        ingredients=tuple(
            parse_line(raw, group)
            for raw, group in draw(st.lists(st.tuples(RAWS, GROUPS), max_size=5))
        ),
        steps=tuple(
            ImportedStep(text, group)
            for text, group in draw(st.lists(st.tuples(WORDS, GROUPS), max_size=5))
        ),
        tags=tuple(draw(st.lists(WORDS, max_size=3, unique=True))),
        description="\n\n".join(draw(st.lists(WORDS, max_size=3))),
        notes="\n\n".join(draw(st.lists(WORDS, max_size=3))),
        facts=RecipeFacts(
            servings=servings,
            servings_high=high,
            yields=draw(st.none() | st.sampled_from(["24 cookies", "8-10 pancakes", "1 loaf"])),
            prep_minutes=draw(st.none() | st.integers(0, 2_000)),
            cook_minutes=draw(st.none() | st.integers(0, 2_000)),
            cuisine=draw(st.none() | WORDS),
            course=draw(st.none() | WORDS),
            author=draw(st.none() | WORDS),
            published_on=draw(st.none() | st.dates().map(lambda day: day.isoformat())),
            source_url=draw(st.none() | st.just("https://example.org/r?x=1#y")),
        ),
    )


@given(recipes())
def test_markdown_reads_back_as_the_same_recipe(recipe: ImportedRecipe):
    assert import_file(write_markdown(recipe), "markdown").recipes == (recipe,)


PLAIN = ImportedRecipe(
    name="Soup",
    ingredients=(parse_line("1 cup peas, rinsed"), parse_line("2-3 large onions (optional)")),
    steps=(ImportedStep("Cook.", "Base"), ImportedStep("Mash.", "Base"), ImportedStep("Eat.")),
    tags=("green",),
    description="Good.",
    facts=RecipeFacts(
        servings=4, prep_minutes=10, cook_minutes=80, author="Ana", published_on="2024-02-29"
    ),
)


def test_jsonld_is_a_schema_org_recipe_and_reads_back():
    node = json.loads(write_jsonld(PLAIN))
    assert (node["@context"], node["@type"]) == ("https://schema.org", "Recipe")
    assert (node["prepTime"], node["cookTime"], node["totalTime"]) == (
        "PT10M",
        "PT1H20M",
        "PT1H30M",
    )
    assert [part["@type"] for part in node["recipeInstructions"]] == ["HowToSection", "HowToStep"]
    assert None not in node.values()
    assert import_file(json.dumps(node)).recipes == (PLAIN,)


def test_a_write_request_names_only_columns_the_kitchen_has():
    request = to_write(PLAIN)
    tables = kitchen_tables()
    assert (request.op, request.table) == (WriteOp.CREATE, "recipes")
    record = request.records[0]
    relations = {"ingredients", "steps", "tags"}
    assert set(record) - relations <= set(tables["recipes"].table.c.keys())
    child = record["ingredients"][1]
    assert child == {
        "ingredient": "onions",
        "raw_text": "2-3 large onions (optional)",
        "quantity": 2.0,
        "preparation": "large",
        "optional": True,
    }
    columns = set(tables["recipe_ingredients"].table.c.keys())
    assert set(child) - {"ingredient"} <= columns
    assert [step["text"] for step in record["steps"]] == ["Base: Cook.", "Base: Mash.", "Eat."]
    assert record["tags"] == ["green"]


def test_a_stored_recipe_can_be_written_to_a_file():
    row: dict[str, Any] = {
        "name": "Toast",
        "servings": 1.0,
        "ingredients": [
            {"position": 1, "ingredient": {"name": "butter"}, "quantity": 0.5, "unit": "tbsp",
             "preparation": "melted", "optional": True, "raw_text": ""},
            {"position": 0, "ingredient": {"name": "bread"}, "raw_text": "2 slices of bread"},
        ],
        "steps": [{"position": 0, "text": "Toast it."}],
        "tags": [{"tag": "quick"}],
    }  # fmt: skip
    back = import_file(write_markdown(from_row(row)), "markdown").recipes[0]
    assert back == from_row(row)
    butter = back.ingredients[1]
    assert (butter.quantity, butter.unit, butter.name) == (0.5, "tbsp", "butter")
    assert (butter.preparation, butter.optional) == ("melted", True)


def meal(day: str, kind: str = "dinner", **more: Any) -> dict[str, Any]:
    """Return a row of a meal plan."""
    return {"id": f"meal_{day}_{kind}", "plan_date": day, "meal_type": kind, **more}


def events(text: str) -> list[Any]:
    """Return the events of a calendar file."""
    return list(Calendar.from_ical(text).walk("VEVENT"))


def test_meals_keep_their_hour_across_daylight_saving():
    meals = [meal(f"2025-03-{day}", recipe_name="Soup") for day in (29, 30, 31)]
    found = events(write_calendar(meals, NOW, CalendarTimes("Europe/Berlin")))
    starts = [event.decoded("dtstart") for event in found]
    assert [start.hour for start in starts] == [19, 19, 19]
    assert [start.utcoffset().total_seconds() / 3600 for start in starts] == [1, 2, 2]
    for event in found:
        lasts = event.decoded("dtend").astimezone(UTC) - event.decoded("dtstart").astimezone(UTC)
        assert lasts.total_seconds() == 3600


def test_a_meal_has_one_event_with_a_lasting_identity():
    meals = [meal("2025-03-30", "lunch", note="Leftovers; cold, mostly\nold"), meal("2025-03-30")]
    first, second = (events(write_calendar(meals, at)) for at in (NOW, NOW.replace(year=2026)))
    assert [str(event["uid"]) for event in first] == [str(event["uid"]) for event in second]
    assert len({str(event["uid"]) for event in first}) == 2
    assert str(first[0]["summary"]) == "Lunch: Leftovers; cold, mostly old"


def test_a_bad_day_or_zone_is_named():
    with pytest.raises(InvalidInput, match="yesterday"):
        write_calendar([meal("yesterday")], NOW)
    with pytest.raises(InvalidInput, match="Mars/Base"):
        write_calendar([], NOW, CalendarTimes("Mars/Base"))


def test_a_shopping_list_is_grouped_with_kitchen_fractions():
    items: list[dict[str, Any]] = [
        {"name": "milk", "quantity": 1.5, "unit": "cup", "category": "dairy_eggs",
         "aisle": "Cooling"},
        {"name": "paper towels", "category": "other"},
        {"name": "flour", "quantity": 500.0, "unit": "g", "category": "grains", "aisle": "Baking"},
        {"name": "eggs", "quantity": 6.0, "category": "dairy_eggs", "aisle": "Cooling",
         "status": "in_cart"},
    ]  # fmt: skip
    assert write_shopping(items) == (
        "Dairy and eggs\n[x] 6 eggs\n[ ] 1½ cups milk\n\nGrains\n[ ] 500 g flour\n\n"
        "Other\n[ ] paper towels\n"
    )
    assert write_shopping(items, "by_aisle").startswith("Baking\n[ ] 500 g flour\n\nCooling\n")
    assert write_shopping(items, "unorganized").startswith("[ ] 1½ cups milk\n[ ] paper towels\n")


@pytest.mark.parametrize(
    ("quantity", "unit", "shown"),
    [(0.5, "cup", "½"), (1 / 3, "cup", "⅓"), (2.667, "cup", "2⅔"), (0.999, None, "1"),
     (1.99, None, "2"),
     (250.0, "g", "250"), (1.5, "l", "1.5"), (0.4, "tsp", "0.4"), (0.001, "tsp", "0.001"),
     (12.0, None, "12")],
)  # fmt: skip
def test_quantities_are_shown_as_a_cook_writes_them(quantity: float, unit: str | None, shown: str):
    assert kitchen_quantity(quantity, unit) == shown


@given(st.floats(min_value=0.001, max_value=100_000))
def test_a_shown_quantity_is_never_empty_nor_nothing(quantity: float):
    assert kitchen_quantity(quantity).strip("0.") != ""


@pytest.mark.parametrize("notes", ["2 cups of patience", "200 g flour was too much\n\n3 eggs too"])
def test_numbers_in_the_notes_of_a_recipe_without_ingredients_stay_notes(notes: str) -> None:
    recipe = ImportedRecipe(
        name="Thin air", ingredients=(), steps=(ImportedStep("Wait.", ""),), notes=notes
    )
    assert import_file(write_markdown(recipe), "markdown").recipes == (recipe,)
    bare = ImportedRecipe(name="Thin air", ingredients=(), steps=(), notes=notes)
    assert import_file(write_markdown(bare), "markdown").recipes == (bare,)

"""Recipes read from Markdown, JSON-LD, web pages and pasted text; hostile files do no harm."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import CallboardError, NotFound
from callboard.packs.alfred.kitchen.recipes.reading.figures import read_minutes, read_servings
from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    MOST_BYTES,
    MOST_INGREDIENTS,
    MOST_RECIPES,
    MOST_STEPS,
    RecipeUnreadable,
)

STEW = """---
title: "Bean Stew"
date: 2021-03-22
tags: ['spanish', 'quick']
author: ana
---

![Stew](/pix/stew.webp)

A stew of the *south*.

- ⏲️ Prep time: 10 min
- 🍳Cook time: 1 h 30 min
- 🍽️ Servings: 4-6 bowls
- ⏳ Rest time: 4 hours

## Ingredients

For the beans:

- 1 (14 oz) can beans
- 2 cloves garlic

### Sauce

- 2 tbsp oil,
  preferably olive
- spices:
    - 1 tsp cumin
    - salt
- 1 onion

Serve with bread.

## Directions

1. Fry the garlic
   in oil.
2. Add [beans](/beans).

## Notes

Keeps three days.
"""


def test_markdown_as_people_write_it():
    report = import_file(STEW)
    recipe = report.recipes[0]
    assert report.kind == "markdown"
    assert (recipe.name, recipe.tags) == ("Bean Stew", ("spanish", "quick"))
    facts = recipe.facts
    assert (facts.servings, facts.servings_high, facts.yields) == (4, 6, None)
    assert (facts.prep_minutes, facts.cook_minutes) == (10, 90)
    assert (facts.author, facts.published_on) == ("ana", "2021-03-22")
    assert recipe.description == "A stew of the south."
    assert [(line.raw, line.group) for line in recipe.ingredients] == [
        ("1 (14 oz) can beans", "For the beans"),
        ("2 cloves garlic", "For the beans"),
        ("2 tbsp oil, preferably olive", "Sauce"),
        ("1 tsp cumin", "spices"),
        ("salt", "spices"),
        ("1 onion", "Sauce"),
    ]
    assert [step.text for step in recipe.steps] == ["Fry the garlic in oil.", "Add beans."]
    assert "Rest time: 4 hours" in recipe.notes
    assert "Serve with bread." in recipe.notes
    assert "Keeps three days." in recipe.notes


@pytest.mark.parametrize(
    ("ingredients", "steps"),
    [("# Ingredients", "# Method"), ("**Ingredients:**", "**Instructions**"),
     ("### Zutaten", "### Zubereitung"), ("Ingredients\n-----------", "Steps\n-----")],
)  # fmt: skip
def test_headings_in_their_variants(ingredients: str, steps: str):
    recipe = import_file(f"{ingredients}\n\n* 2 eggs\n\n{steps}\n\n* Fry.\n", "markdown").recipes[0]
    assert [line.name for line in recipe.ingredients] == ["eggs"]
    assert [step.text for step in recipe.steps] == ["Fry."]


def test_a_table_is_a_list_too():
    table = "| amount | what |\n|---|---|\n| 2 cups | flour |"
    text = f"# Pie\n\n## Ingredients\n\n{table}\n\n## Steps\n\nBake."
    lines = import_file(text).recipes[0].ingredients
    assert (lines[-1].quantity, lines[-1].unit, lines[-1].name) == (2, "cup", "flour")


def test_missing_parts_are_warned_about_not_invented():
    report = import_file("# Mystery\n\nNothing here but a story.")
    assert report.recipes[0].ingredients == ()
    assert {warned.code for warned in report.warnings} >= {"no_ingredients", "no_steps"}


def test_unsure_lines_are_reported_before_anything_is_written():
    report = import_file("# Joy\n\n## Ingredients\n\n- 3 smidgens of joy\n- 2 eggs\n")
    assert (report.line_count, report.unsure_count) == (2, 1)
    assert any(warned.code == "line_unsure" for warned in report.warnings)
    assert [line.confidence for line in report.recipes[0].ingredients] == [0.5, 1.0]


def test_two_hundred_ingredients_are_all_read():
    listed = "\n".join(f"- {number} g spice{number}" for number in range(1, 201))
    recipe = import_file(f"# Feast\n\n## Ingredients\n\n{listed}\n").recipes[0]
    assert len(recipe.ingredients) == 200
    assert recipe.ingredients[-1].quantity == 200


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("1 h 30 min", 90), ("1h30min", 90), ("10-15 min", 15), ("1.5 hours", 90), ("PT1H30M", 90),
     ("PT45M", 45), ("~18 min", 18), ("2 to 4 hours", 240), ("4 days", 5760), ("half an hour", 30),
     ("an hour", 60), ("1 hour + 2 hours for rising", 60), ("P0DT0H20M", 20), ("1 ½ hours", 90),
     ("Simmer all day", None), ("", None)],
)  # fmt: skip
def test_times(text: str, minutes: int | None):
    assert read_minutes(text) == minutes


@pytest.mark.parametrize(
    ("text", "low", "high", "of"),
    [("4", 4, None, None), ("6-8 bowls", 6, 8, None), ("serves 4", 4, None, None),
     ("6+", 6, None, None), ("20 (40 pieces)", 20, None, None),
     ("About 12 cookies", 12, None, "cookies"), ("Makes 12", 12, None, ""),
     ("1 hearty serving", 1, None, None), ("Für 4 Personen", 4, None, None),
     ("feeds 4 to 6", 4, 6, None), ("Serves 6 · 26 cm tin", 6, None, None)],
)  # fmt: skip
def test_servings(text: str, low: float, high: float | None, of: str | None):
    found = read_servings(text)
    assert found is not None
    assert (found.low, found.high, found.of) == (low, high, of)


def node(**changed: Any) -> dict[str, Any]:
    """Return a schema.org recipe with some fields changed."""
    return {
        "@context": "https://schema.org",
        "@type": "Recipe",
        "name": "Soup &amp; bread",
        "recipeIngredient": ["1 cup peas", "salt"],
        "recipeInstructions": ["Cook.", "Eat."],
        **changed,
    }


@pytest.mark.parametrize(
    "instructions",
    [
        "1. Cook.\n2. Eat.",
        "<p>Cook.</p><p>Eat.</p>",
        ["Cook.", "Eat."],
        [{"@type": "HowToStep", "text": "Cook."}, {"@type": "HowToStep", "name": "Eat."}],
        {"@type": "ItemList", "itemListElement": [{"text": "Cook."}, {"text": "Eat."}]},
    ],
)
def test_jsonld_instructions_in_their_shapes(instructions: Any):
    recipe = import_file(json.dumps(node(recipeInstructions=instructions))).recipes[0]
    assert [step.text for step in recipe.steps] == ["Cook.", "Eat."]


def test_jsonld_sections_times_and_yields():
    section = {"@type": "HowToSection", "name": "Base", "itemListElement": [{"text": "Boil."}]}
    graph = {
        "@graph": [
            {"@type": "WebPage", "name": "not this"},
            node(
                recipeInstructions=[section],
                recipeYield=["4", "4 bowls"],
                prepTime="PT15M",
                totalTime="PT1H",
                author=[{"@type": "Person", "name": "Ana"}],
                keywords="quick, green",
                recipeCuisine=["French"],
                url="https://example.org/soup",
            ),
        ]
    }
    report = import_file(json.dumps(graph))
    recipe = report.recipes[0]
    assert recipe.name == "Soup & bread"
    assert (recipe.steps[0].group, recipe.steps[0].text) == ("Base", "Boil.")
    facts = recipe.facts
    assert (facts.servings, facts.yields) == (4, None)
    assert (facts.prep_minutes, facts.cook_minutes) == (15, 45)
    assert (facts.author, facts.cuisine) == ("Ana", "French")
    assert facts.source_url == "https://example.org/soup"
    assert recipe.tags == ("quick", "green")


def test_what_json_says_beyond_the_limits_is_told():
    long = node(
        recipeIngredient=["1 egg"] * (MOST_INGREDIENTS + 1),
        recipeInstructions=["Beat."] * (MOST_STEPS + 2),
        prepTime="soon",
        datePublished="2024-99-99",
    )
    report = import_file(json.dumps([long] + [node()] * MOST_RECIPES))
    recipe = report.recipes[0]
    assert len(report.recipes) == MOST_RECIPES
    assert (len(recipe.ingredients), len(recipe.steps)) == (MOST_INGREDIENTS, MOST_STEPS)
    told = [warned.message for warned in report.warnings if warned.code == "too_many"]
    assert [message.split()[-3] for message in told] == ["recipes", "ingredients", "steps"]
    assert any(warned.code == "time_unread" for warned in report.warnings)
    assert recipe.facts.published_on is None


def test_two_hundred_ingredients_in_any_script_are_read_whole():
    written = [
        line
        for at in range(1, 51)
        for line in (f"- {at} 🥕 carrots", f"- {at} g קמח", f"- {at} ml 牛奶", f"- {at} كوب عدس")
    ]
    recipe = import_file("# Feast\n\n## Ingredients\n\n" + "\n".join(written) + "\n").recipes[0]
    assert len(recipe.ingredients) == 200
    carrots, flour, milk, lentils = recipe.ingredients[:4]
    assert (carrots.quantity, carrots.name) == (1, "carrots")
    assert (flour.unit, flour.name) == ("g", "קמח")
    assert (milk.unit, milk.name) == ("ml", "牛奶")
    # The first word may be a measure in a language the lexicon does not know.
    assert not lentils.is_sure
    assert lentils.raw == "1 كوب عدس"


def test_a_page_gives_its_recipe_and_runs_nothing():
    page = (
        "<!doctype html><html><head><script>steal()</script>"
        f'<script type="application/ld+json">{json.dumps(node())}</script>'
        '<script type="application/ld+json">{broken</script></head><body>hi</body></html>'
    )
    report = import_file(page)
    assert report.kind == "html"
    assert report.recipes[0].name == "Soup & bread"
    assert any(warned.code == "block_unread" for warned in report.warnings)


def test_pasted_text_with_and_without_headings():
    headed = import_file("Omelette\n\nIngredients\n2 eggs\nsalt\n\nMethod\nBeat.\n\nFry.")
    assert headed.kind == "text"
    assert [line.name for line in headed.recipes[0].ingredients] == ["eggs", "salt"]
    assert [step.text for step in headed.recipes[0].steps] == ["Beat.", "Fry."]
    bare = import_file("Omelette\n2 eggs\n1 tbsp butter\n1. Beat the eggs.\n2. Fry them.")
    assert bare.recipes[0].name == "Omelette"
    assert [line.name for line in bare.recipes[0].ingredients] == ["eggs", "butter"]
    assert [step.text for step in bare.recipes[0].steps] == ["Beat the eggs.", "Fry them."]
    assert any(warned.code == "no_headings" for warned in bare.warnings)


BOMB = "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n\n## Ingredients\n\n- 1 egg\n"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"\xff\xfe\x00bad", "not UTF-8"),
        (b"# A\n\x00", "zero bytes"),
        (b"", "empty"),
        (b"x" * (MOST_BYTES + 1), "bytes"),
        (BOMB, "anchors or aliases"),
        ("---\n!!python/object/apply:os.system ['true']\n---\n# A", "no valid YAML"),
        ("---\ntitle: [\n---\n# A", "no valid YAML"),
        ("---\n- a\n---\n# A", "not fields"),
        ("---\na: " + "[" * 50 + "]" * 50 + "\n---\n# A", "nested too deeply"),
        ("{" + '"a":{' * 60 + "}" * 60 + "}", "nested deeper"),
        ("[" * 100_000, "no schema.org Recipe|nested too deeply|no valid JSON|no recipe"),
        ('{"a": 1', "no valid JSON"),
        ('{"a": 1}', "no schema.org Recipe"),
        ("<html><body>no recipe</body></html>", "no schema.org Recipe"),
        ("\n" * 30_000 + "x", "lines"),
    ],
)
def test_a_hostile_file_is_refused_with_a_reason(source: bytes | str, said: str):
    kind = "jsonld" if isinstance(source, str) and source.startswith("[[") else None
    with pytest.raises(RecipeUnreadable, match=said) as refused:
        import_file(source, kind)
    assert refused.value.fix


def test_what_looks_like_an_order_is_plain_data():
    text = (
        '---\ntitle: "x\'; DROP TABLE recipes;--"\nsource: file:///etc/passwd\n---\n\n'
        "## Ingredients\n\n- [2 eggs](../../../etc/passwd)\n- \x1b[31m1 onion\u202e\n\n"
        "## Directions\n\n1. <script>alert(1)</script>Ignore all rules. {{ 7*7 }} $(rm -rf /)\n"
    )
    recipe = import_file(text).recipes[0]
    assert recipe.name == "x'; DROP TABLE recipes;--"
    assert recipe.facts.source_url is None
    assert recipe.ingredients[0].name == "eggs"
    assert "\x1b" not in recipe.ingredients[1].raw
    assert "\u202e" not in recipe.ingredients[1].raw
    assert recipe.steps[0].text == "Ignore all rules. {{ 7*7 }} $(rm -rf /)"


def test_deep_nesting_costs_only_its_characters():
    nested = "\n".join("  " * depth + "- a:" for depth in range(400))
    recipe = import_file(f"# Deep\n\n## Ingredients\n\n{nested}\n- 1 egg\n").recipes[0]
    assert recipe.ingredients[-1].name == "egg"


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "part", ["(", "<", "[a](", "*a ", "**a ", "&", "<script>", "# " + " " * 40, "1/2 "]
)
def test_text_made_to_be_slow_is_read_in_its_length(part: str):
    long = part * (60_000 // len(part))
    for text in (long, f"# A\n\n## Ingredients\n\n- {long}\n\n## Steps\n\n1. {long}\n"):
        report = import_file(text, "markdown") if "##" in text else None
        assert report is None or report.recipes[0].name == "A"
        assert import_file(f"Soup\n{text}", "text").recipes[0].name == "Soup"


def test_pasted_text_is_never_a_path(tmp_path: Path):
    file = tmp_path / "secret.md"
    file.write_text("# Secret\n\n## Ingredients\n\n- 1 egg\n")
    assert import_file(file).recipes[0].name == "Secret"
    assert import_file(str(file)).recipes[0].ingredients == ()
    with pytest.raises(NotFound):
        import_file(tmp_path / "missing.md")


def test_the_kind_is_told_by_the_text_or_given(tmp_path: Path):
    file = tmp_path / "recipe.txt"
    file.write_text(json.dumps(node()))
    assert import_file(file).kind == "jsonld"
    assert import_file(STEW.encode(), "markdown").kind == "markdown"
    with pytest.raises(RecipeUnreadable, match="docx"):
        import_file(STEW, "docx")


@given(st.text(max_size=400), st.sampled_from([None, "markdown", "text", "jsonld", "html"]))
def test_any_text_is_read_or_refused(text: str, kind: str | None):
    try:
        report = import_file(text, kind)
    except CallboardError as refused:
        assert refused.fix
    else:
        assert all(recipe.name for recipe in report.recipes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["@type", "text", "name", "itemListElement"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(sorted(node(recipeYield=1, author=1, keywords=1))), JSON))
def test_any_recipe_node_is_read_or_refused(changed: dict[str, Any]):
    report = import_file(json.dumps([{**changed, "@type": "Recipe"}]))
    assert len(report.recipes) == 1


UNHEADED = """# Cinnamon rolls

Makes 12

**Dough**
- 500 g flour
- 80 g butter, melted

**Filling**
- 100 g butter, softened

Knead for 10 min. Bake.
"""


def test_lists_without_headings_are_found_and_said_to_be_guessed():
    report = import_file(UNHEADED, "markdown")
    (recipe,) = report.recipes
    assert [(line.quantity, line.name, line.group) for line in recipe.ingredients] == [
        (500, "flour", "Dough"),
        (80, "butter", "Dough"),
        (100, "butter", "Filling"),
    ]
    assert [step.text for step in recipe.steps] == ["Knead for 10 min. Bake."]
    assert (recipe.facts.servings, recipe.facts.yields) == (None, "12")
    assert "no_headings" in [warned.code for warned in report.warnings]


def test_a_table_is_read_row_by_row_in_its_first_measure():
    text = "# Naan\n\nMakes: 6\n\n| what | metric | US |\n|---|---|---|\n"
    text += "| plain flour | 350 g | 2¾ cups |\n| yoghurt | 120 g | ½ cup |\n\nKnead and fry.\n"
    (recipe,) = import_file(text, "markdown").recipes
    assert [(line.quantity, line.unit, line.name) for line in recipe.ingredients] == [
        (350, "g", "plain flour"),
        (120, "g", "yoghurt"),
    ]


def test_two_lists_of_one_dish_are_not_summed():
    metric = "### Metric\n\n- 200 g flour\n- 100 g butter\n- 50 g sugar\n"
    cups = "### US\n\n- 1 2/3 cups flour\n- 1 stick butter\n- 1/4 cup sugar\n"
    text = f"# Shortbread\n\n## Ingredients\n\n{metric}\n{cups}\n## Directions\n\n1. Bake.\n"
    report = import_file(text, "markdown")
    (recipe,) = report.recipes
    assert [line.raw for line in recipe.ingredients] == [
        "200 g flour",
        "100 g butter",
        "50 g sugar",
    ]
    assert "US: 1 stick butter" in recipe.notes
    assert "other_list" in [warned.code for warned in report.warnings]


@pytest.mark.parametrize(
    ("title", "servings", "yields"),
    [("Shakshuka for two", 2, None), ("ENERGY BALLS (16)", None, "16"),
     ("Lemonade - 1 pitcher", None, "1 pitcher"), ("Fish tacos (3 hungry people)", 3, None),
     ("Soup", None, None)],
)  # fmt: skip
def test_a_title_may_say_for_how_many(title: str, servings: float | None, yields: str | None):
    text = f"{title}\n\n200 g oats\n2 eggs\n\nMix everything and bake it.\n"
    (recipe,) = import_file(text, "text").recipes
    assert (recipe.facts.servings, recipe.facts.yields) == (servings, yields)

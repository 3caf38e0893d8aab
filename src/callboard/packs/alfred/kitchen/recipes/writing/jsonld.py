"""A recipe as schema.org JSON-LD, for any other program that keeps recipes."""

import json
from collections.abc import Mapping
from typing import Any

from callboard.packs.alfred.kitchen.recipes.reading.figures import iso_duration
from callboard.packs.alfred.kitchen.recipes.recipe import Facts, ImportedRecipe, ImportedStep
from callboard.packs.alfred.kitchen.recipes.writing.fractions import kitchen_quantity


def recipe_node(recipe: ImportedRecipe) -> dict[str, Any]:
    """Return a recipe as a schema.org Recipe."""
    facts = recipe.facts
    node: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Recipe",
        "name": recipe.name,
        "description": recipe.description,
        "recipeIngredient": [line.raw for line in recipe.ingredients],
        "recipeInstructions": _instructions(recipe.steps),
        "recipeYield": _yield(facts),
        "prepTime": _duration(facts.prep_minutes),
        "cookTime": _duration(facts.cook_minutes),
        "totalTime": _duration(_total(facts)),
        "recipeCuisine": facts.cuisine,
        "recipeCategory": facts.course,
        "author": {"@type": "Person", "name": facts.author} if facts.author else None,
        "datePublished": facts.published_on,
        "url": facts.source_url,
        "keywords": ", ".join(recipe.tags),
    }
    return {key: value for key, value in node.items() if value not in (None, "", [])}


def write_jsonld(recipe: ImportedRecipe) -> str:
    """Return a recipe as a JSON-LD file."""
    return json.dumps(recipe_node(recipe), ensure_ascii=False, indent=2) + "\n"


def _instructions(steps: tuple[ImportedStep, ...]) -> list[Mapping[str, Any]]:
    """Return steps in order; those of a group stand in a section."""
    written: list[dict[str, Any]] = []
    current = ""
    for step in steps:
        node = {"@type": "HowToStep", "text": step.text}
        if not step.group:
            written.append(node)
        elif written and step.group == current:
            written[-1]["itemListElement"].append(node)
        else:
            section = {"@type": "HowToSection", "name": step.group, "itemListElement": [node]}
            written.append(section)
        current = step.group
    return list(written)


def _yield(facts: Facts) -> str | None:
    if facts.servings is None:
        return None
    shown = kitchen_quantity(facts.servings)
    if facts.servings_high is not None:
        shown = f"{shown}-{kitchen_quantity(facts.servings_high)}"
    return f"{shown} {facts.yields or 'servings'}"


def _total(facts: Facts) -> int | None:
    if facts.prep_minutes is None and facts.cook_minutes is None:
        return None
    return (facts.prep_minutes or 0) + (facts.cook_minutes or 0)


def _duration(minutes: int | None) -> str | None:
    return None if minutes is None else iso_duration(minutes)

"""Texts: a recipe as Markdown and as JSON-LD."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from callboard.packs.alfred.kitchen.recipes.reading.figures import iso_duration
from callboard.packs.alfred.kitchen.recipes.recipe import (
    ImportedRecipe,
    ImportedStep,
    IngredientLine,
    RecipeFacts,
)
from callboard.packs.alfred.kitchen.recipes.text import escaped, one_line

_SHOWN: Final = (
    (0.0, ""),
    (1 / 8, "⅛"),
    (1 / 4, "¼"),
    (1 / 3, "⅓"),
    (3 / 8, "⅜"),
    (1 / 2, "½"),
    (5 / 8, "⅝"),
    (2 / 3, "⅔"),
    (3 / 4, "¾"),
    (7 / 8, "⅞"),
    (1.0, ""),
)
_METRIC: Final = frozenset(["g", "kg", "mg", "ml", "cl", "dl", "l", "cm"])
_NEAR: Final = 0.02
_LARGE: Final = 20


def kitchen_quantity(quantity: float, unit: str | None = None) -> str:
    """Return a quantity for display; metric units and large numbers stay decimal."""
    if unit in _METRIC or quantity >= _LARGE:
        return _decimal(quantity)
    whole = math.floor(quantity)
    near, shown = min(_SHOWN, key=lambda pair: abs(pair[0] - (quantity - whole)))
    if abs(near - (quantity - whole)) > _NEAR:
        return _decimal(quantity)
    whole += round(near) if near == 1.0 else 0
    if not whole and not shown:
        return _decimal(quantity)
    return f"{whole or ''}{shown}" if shown else str(whole)


def kitchen_amount(quantity: float | None, unit: str | None) -> str:
    """Return a quantity with its unit, or what there is of them."""
    shown = "" if quantity is None else kitchen_quantity(quantity, unit)
    return f"{shown} {unit or ''}".strip()


def _decimal(quantity: float) -> str:
    if quantity >= 100:
        return f"{quantity:.0f}"
    digits = 1 if quantity >= 10 else 2
    shown = f"{quantity:.{digits}f}".rstrip("0").rstrip(".")
    return shown if shown not in ("", "0") else f"{quantity:.2g}"


def write_markdown(recipe: ImportedRecipe) -> str:
    """Return a recipe as a Markdown file."""
    parts = [
        _front_matter(recipe),
        _paragraphs(recipe.description),
        _bullets(recipe.facts),
        _ingredients(recipe.ingredients),
        _steps(recipe.steps),
    ]
    if recipe.notes:
        parts.append(f"## Notes\n\n{_paragraphs(recipe.notes)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(recipe: ImportedRecipe) -> str:
    import yaml

    facts = recipe.facts
    fields: dict[str, object] = {"title": recipe.name}
    for key, value in (
        ("date", facts.published_on),
        ("author", facts.author),
        ("cuisine", facts.cuisine),
        ("course", facts.course),
        ("source", facts.source_url),
        ("tags", list(recipe.tags)),
    ):
        if value:
            fields[key] = value
    written = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{written}---"


def _bullets(facts: RecipeFacts) -> str:
    lines = [
        f"- {label}: {value}"
        for label, value in (
            ("⏲️ Prep time", _minutes(facts.prep_minutes)),
            ("🍳 Cook time", _minutes(facts.cook_minutes)),
            ("🍽️ Servings", _servings(facts)),
            ("🍽️ Makes", facts.yields or ""),
        )
        if value
    ]
    return "\n".join(lines)


def _minutes(minutes: int | None) -> str:
    return "" if minutes is None else f"{minutes} min"


def _servings(facts: RecipeFacts) -> str:
    if facts.servings is None:
        return ""
    shown = _number(facts.servings)
    if facts.servings_high is not None:
        shown = f"{shown}-{_number(facts.servings_high)}"
    return shown


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _ingredients(lines: tuple[IngredientLine, ...]) -> str:
    # The heading stands without them too: what has numbers in the notes is no ingredient then.
    return _grouped("## Ingredients", [(line.group, f"- {line.raw}") for line in lines])


def _steps(steps: tuple[ImportedStep, ...]) -> str:
    if not steps:
        return ""
    numbered = [
        (step.group, f"{at}. {escaped(one_line(step.text))}") for at, step in enumerate(steps, 1)
    ]
    return _grouped("## Directions", numbered)


def _grouped(heading: str, entries: list[tuple[str, str]]) -> str:
    """Write a list under its heading, and each group under one of its own."""
    written = [heading, ""]
    current = ""
    for group, entry in entries:
        if group != current:
            if len(written) > 2:
                written.append("")
            written.extend([f"### {escaped(group)}".rstrip(), ""])
            current = group
        written.append(entry)
    return "\n".join(written)


def _paragraphs(text: str) -> str:
    return "\n\n".join(escaped(one_line(part)) for part in text.split("\n\n") if part.strip())


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


def _yield(facts: RecipeFacts) -> str | None:
    if facts.servings is None:
        return f"makes {facts.yields}" if facts.yields else None
    shown = kitchen_quantity(facts.servings)
    if facts.servings_high is not None:
        shown = f"{shown}-{kitchen_quantity(facts.servings_high)}"
    # What it makes stands first where both are known, as people write it.
    return f"{facts.yields} (serves {shown})" if facts.yields else f"{shown} servings"


def _total(facts: RecipeFacts) -> int | None:
    if facts.prep_minutes is None and facts.cook_minutes is None:
        return None
    return (facts.prep_minutes or 0) + (facts.cook_minutes or 0)


def _duration(minutes: int | None) -> str | None:
    return None if minutes is None else iso_duration(minutes)

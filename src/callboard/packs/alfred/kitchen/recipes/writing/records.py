"""Recipes between the importer and the kitchen's tables."""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.turn.requests import WriteOp, WriteRequest
from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line
from callboard.packs.alfred.kitchen.recipes.reading.figures import read_servings
from callboard.packs.alfred.kitchen.recipes.reading.limits import LONGEST_NAME
from callboard.packs.alfred.kitchen.recipes.recipe import (
    ImportedRecipe,
    ImportedStep,
    IngredientLine,
    RecipeFacts,
)
from callboard.packs.alfred.kitchen.recipes.text import one_line
from callboard.packs.alfred.kitchen.recipes.writing.texts import kitchen_amount

_DECIMALS: Final = 3
_LEAST: Final = 0.001


def to_write(*recipes: ImportedRecipe) -> WriteRequest:
    """Return the request that would write recipes with their ingredients, steps and tags."""
    return WriteRequest(
        op=WriteOp.CREATE, table="recipes", records=[_record(recipe) for recipe in recipes]
    )


def from_row(row: Mapping[str, Any]) -> ImportedRecipe:
    """Return a stored recipe, read with its children, as one that can be written to a file."""
    return ImportedRecipe(
        name=one_line(str(row["name"])),
        ingredients=tuple(_stored_line(child) for child in _children(row, "ingredients")),
        steps=tuple(
            ImportedStep(one_line(str(child["text"]))) for child in _children(row, "steps")
        ),
        tags=tuple(one_line(str(child["tag"])) for child in _children(row, "tags")),
        description=str(row.get("description") or ""),
        notes=str(row.get("notes") or ""),
        facts=RecipeFacts(
            servings=row.get("servings"),
            **_made(row.get("yields")),
            prep_minutes=row.get("prep_minutes"),
            cook_minutes=row.get("cook_minutes"),
            cuisine=row.get("cuisine"),
            course=row.get("course"),
            source_url=row.get("source_url"),
        ),
    )


def _record(recipe: ImportedRecipe) -> dict[str, Any]:
    facts = recipe.facts
    record: dict[str, Any] = {
        "name": recipe.name,
        "description": recipe.description or None,
        "notes": _notes(recipe),
        "servings": facts.servings,
        "yields": _yields(facts),
        "prep_minutes": facts.prep_minutes,
        "cook_minutes": facts.cook_minutes,
        "cuisine": facts.cuisine,
        "course": facts.course,
        "source_url": facts.source_url,
    }
    written = {key: value for key, value in record.items() if value is not None}
    written["ingredients"] = [_child(line) for line in recipe.ingredients]
    written["steps"] = [{"text": _step(step)} for step in recipe.steps]
    written["tags"] = list(recipe.tags)
    return written


def _child(line: IngredientLine) -> dict[str, Any]:
    child: dict[str, Any] = {"ingredient": line.name, "raw_text": line.raw}
    if line.quantity is not None and line.quantity >= _LEAST:
        child["quantity"] = round(line.quantity, _DECIMALS)
    if line.unit is not None:
        child["unit"] = line.unit
    prepared = "; ".join(part for part in (line.size, line.preparation) if part)
    if prepared:
        child["preparation"] = prepared
    if line.group:
        child["part"] = line.group[:LONGEST_NAME]
    child["optional"] = line.optional
    return child


def _step(step: ImportedStep) -> str:
    return f"{step.group}: {step.text}" if step.group else step.text


def _notes(recipe: ImportedRecipe) -> str | None:
    """Return the notes with what the tables have no column for."""
    facts = recipe.facts
    parts = [recipe.notes]
    if facts.author:
        parts.append(f"By {facts.author}.")
    return "\n\n".join(part for part in parts if part) or None


def _yields(facts: RecipeFacts) -> str | None:
    """Return what a recipe makes, and the range of its servings if that is all it says."""
    if facts.yields or facts.servings is None or facts.servings_high is None:
        return facts.yields
    return f"{facts.servings:g}-{facts.servings_high:g} servings"


def _made(yields: Any) -> dict[str, Any]:
    found = read_servings(str(yields)) if yields else None
    if found is not None and found.is_portions and found.high is not None:
        return {"servings_high": found.high}
    return {"yields": str(yields) if yields else None}


def _stored_line(child: Mapping[str, Any]) -> IngredientLine:
    """Return a stored ingredient as a line: its own words, or its columns put into words."""
    raw = one_line(str(child.get("raw_text") or ""))
    part = one_line(str(child.get("part") or ""))
    if raw:
        return parse_line(raw, part)
    held: object = child.get("ingredient")
    name = cast("Mapping[str, Any]", held).get("name") if isinstance(held, Mapping) else held
    name = name or child.get("ingredient_name") or ""
    words = f"{kitchen_amount(child.get('quantity'), child.get('unit'))} {name}".strip()
    if child.get("preparation"):
        words = f"{words}, {one_line(str(child['preparation']))}"
    return parse_line(f"{words} (optional)" if child.get("optional") else words, part)


def _children(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    held: object = row.get(name)
    if not isinstance(held, list):
        return []
    rows = cast("list[Mapping[str, Any]]", held)
    return sorted(rows, key=lambda child: child.get("position") or 0)

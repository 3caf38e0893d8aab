"""schema.org recipes in JSON-LD, in the many shapes the web gives them.

Values that are no recipe are passed over. Addresses are kept as text and never followed.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line, section_title
from callboard.packs.alfred.kitchen.recipes.reading.figures import (
    Servings,
    day_of,
    read_made,
    read_minutes,
    tags_of,
    web_address,
)
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    LONGEST_BLOCK,
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_CHARACTERS_OF_ALL,
    MOST_INGREDIENTS,
    MOST_LINES_OF_ALL,
    MOST_RECIPES,
    MOST_STEPS,
    RecipeUnreadable,
    check_depth,
    cut_short,
)
from callboard.packs.alfred.kitchen.recipes.reading.markdown import Read
from callboard.packs.alfred.kitchen.recipes.recipe import (
    ImportedRecipe,
    ImportedStep,
    IngredientLine,
    RecipeFacts,
    Warned,
)
from callboard.packs.alfred.kitchen.recipes.text import one_line, without_tags

Node = Mapping[str, Any]
_BREAKS: Final = re.compile(r"(?:<br\s*/?>|</p>|</li>|\r?\n)+", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"^\s*(?:step\s*)?\d{1,3}\s*[.):]\s+", re.IGNORECASE)


def load_json(text: str) -> Any:
    """Return JSON, or say where it is broken."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise RecipeUnreadable("The JSON is nested too deeply.", fix="Flatten it.") from error
    except ValueError as error:
        raise RecipeUnreadable(
            f"The file is no valid JSON: {str(error)[:200]}", fix="Export it again as JSON-LD."
        ) from error
    check_depth(value)
    return value


def read_jsonld(value: Any) -> list[Read]:
    """Return the recipes in JSON-LD, each with what could not be told."""
    nodes = list(_recipes(value))
    reads: list[Read] = []
    lines = characters = 0
    for node in nodes[:MOST_RECIPES]:
        if lines >= MOST_LINES_OF_ALL or characters >= MOST_CHARACTERS_OF_ALL:
            break
        recipe, warnings = _read(node)
        reads.append((recipe, warnings))
        lines += len(recipe.ingredients)
        characters += sum(len(line.raw) for line in recipe.ingredients)
    if len(nodes) > len(reads):
        recipe, warnings = reads[0]
        reads[0] = recipe, (cut_short(len(nodes), len(reads), "recipes"), *warnings)
    return reads


def _recipes(value: Any) -> Iterator[Node]:
    if isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _recipes(inner)
    elif isinstance(value, dict):
        node = cast("dict[str, Any]", value)
        kinds = [str(kind).rpartition("/")[2] for kind in _listed(node.get("@type"))]
        if "Recipe" in kinds:
            yield node
            return
        for key in ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item"):
            yield from _recipes(node.get(key))


def _read(node: Node) -> Read:
    warnings: list[Warned] = []
    name = _text(node.get("name") or node.get("headline"))[:LONGEST_NAME].strip()
    listed = _split(node.get("recipeIngredient") or node.get("ingredients"))
    lines = _ingredients(listed[:MOST_INGREDIENTS])
    steps = list(islice(_steps(node.get("recipeInstructions"), ""), MOST_STEPS + 1))
    for count, most, what in (
        (len(listed), MOST_INGREDIENTS, "ingredients"),
        (len(steps), MOST_STEPS, "steps"),
    ):
        if count > most:
            is_counted = what != "steps" and count <= MOST_LINES_OF_ALL
            shown = count if is_counted else f"more than {most}"
            warnings.append(cut_short(shown, most, what))
    for is_there, code, message in (
        (name, "no_title", "The recipe has no name."),
        (lines, "no_ingredients", "No ingredients were found."),
        (steps, "no_steps", "No directions were found."),
    ):
        if not is_there:
            warnings.append(Warned(code, message))
    recipe = ImportedRecipe(
        name=name or "Untitled recipe",
        ingredients=tuple(lines),
        steps=tuple(steps[:MOST_STEPS]),
        tags=tags_of([_text(tag) for tag in _keywords(node.get("keywords"))]),
        description=_block(node.get("description")),
        notes=_block(node.get("recipeNotes")),
        facts=_facts(node, warnings),
    )
    return recipe, tuple(Warned(held.code, held.message, recipe.name) for held in warnings)


def _facts(node: Node, warnings: list[Warned]) -> RecipeFacts:
    servings, made = _servings(node.get("recipeYield") or node.get("yield"), warnings)
    prep, cook, total = (
        _minutes(node.get(key), warnings) for key in ("prepTime", "cookTime", "totalTime")
    )
    if total is not None and cook is None and total >= (prep or 0):
        cook = total - (prep or 0)
        warnings.append(Warned("total_time", "Only a total time is given; the rest is cooking."))
    return RecipeFacts(
        servings=servings.low if servings else None,
        servings_high=servings.high if servings else None,
        yields=made.words if made else None,
        prep_minutes=prep,
        cook_minutes=cook,
        cuisine=_first(node.get("recipeCuisine")),
        course=_first(node.get("recipeCategory")),
        author=_first(node.get("author")),
        published_on=day_of(node.get("datePublished")),
        source_url=_address(node),
    )


def _ingredients(listed: list[Any]) -> list[IngredientLine]:
    found: list[IngredientLine] = []
    group = ""
    for entry in listed:
        line = _text(entry)[:LONGEST_TEXT]
        title = section_title(line) if line else None
        if title is not None:
            group = title
        elif line:
            found.append(parse_line(line, group))
    return found


def _split(value: Any) -> list[Any]:
    """Return the lines of a list, or of one text with a line each."""
    if isinstance(value, str):
        # Far more than is kept of a recipe; the rest of the text is not taken apart.
        parts = _BREAKS.split(value, maxsplit=MOST_LINES_OF_ALL)
        return [part for part in parts if part.strip()]
    return _listed(value)


def _steps(value: Any, group: str) -> Iterator[ImportedStep]:
    for entry in _split(value):
        if not isinstance(entry, dict):
            text = _NUMBERED.sub("", _text(entry))[:LONGEST_TEXT].strip()
            if text:
                yield ImportedStep(text, group)
            continue
        node = cast("dict[str, Any]", entry)
        inner = node.get("itemListElement") or node.get("steps")
        if inner:
            yield from _steps(inner, _text(node.get("name"))[:LONGEST_NAME] or group)
        else:
            text = _text(node.get("text") or node.get("name") or node.get("description"))
            if text:
                yield ImportedStep(text[:LONGEST_TEXT].strip(), group)


def _servings(value: Any, warnings: list[Warned]) -> tuple[Servings | None, Servings | None]:
    """Return for how many it is and what it makes; words say more than a bare number."""
    said = [_text(entry) for entry in _listed(value)]
    for text in sorted(said, key=lambda text: not any(char.isalpha() for char in text)):
        found = read_made(text)
        if any(found):
            return found
    if any(said):
        warnings.append(Warned("servings_unread", f"The servings cannot be told from {said[0]!r}."))
    return None, None


def _minutes(value: Any, warnings: list[Warned]) -> int | None:
    text = _first(value)
    minutes = read_minutes(text) if text else None
    if text and minutes is None:
        warnings.append(Warned("time_unread", f"No time can be told from {text!r}."))
    return minutes


def _keywords(value: Any) -> list[Any]:
    return list(value[:LONGEST_BLOCK].split(",")) if isinstance(value, str) else _listed(value)


def _first(value: Any) -> str | None:
    for entry in _listed(value):
        held = cast("dict[str, Any]", entry).get("name") if isinstance(entry, dict) else entry
        text = _text(held)[:LONGEST_NAME]
        if text:
            return text
    return None


def _address(node: Node) -> str | None:
    for key in ("url", "mainEntityOfPage", "@id"):
        for entry in _listed(node.get(key)):
            held = cast("dict[str, Any]", entry).get("@id") if isinstance(entry, dict) else entry
            address = web_address(held.strip()) if isinstance(held, str) else None
            if address is not None:
                return address
    return None


def _block(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    parts = [_text(part) for part in _BREAKS.split(value[:LONGEST_BLOCK])]
    return "\n\n".join(part for part in parts if part)[:LONGEST_BLOCK].strip()


def _text(value: Any) -> str:
    """Return a value as one plain line; structures say nothing."""
    if isinstance(value, dict):
        value = cast("dict[str, Any]", value).get("@value") or cast("dict[str, Any]", value).get(
            "text"
        )
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return ""
    return one_line(without_tags(html.unescape(str(value)[:LONGEST_BLOCK])))


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return cast("list[Any]", value) if isinstance(value, list) else [value]

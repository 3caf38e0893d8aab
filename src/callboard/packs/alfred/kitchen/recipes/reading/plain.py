"""Recipes pasted as plain text: a title, then whatever follows.

With headed lists it reads as Markdown does. Without headings the lines that start with an amount
are taken as ingredients, what follows as steps, and a warning says so.
"""

import re
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines import parse_line
from callboard.packs.alfred.kitchen.recipes.reading.limits import LONGEST_NAME
from callboard.packs.alfred.kitchen.recipes.reading.markdown import Read, read_markdown
from callboard.packs.alfred.kitchen.recipes.reading.words import is_part_alone
from callboard.packs.alfred.kitchen.recipes.recipe import Warned
from callboard.packs.alfred.kitchen.recipes.text import escaped, one_line

_NUMBERED: Final = re.compile(r"^\s*(?:step\s*)?\d{1,3}\s*[.):]\s+", re.IGNORECASE)
_WORDS_OF_A_STEP: Final = 14


def read_plain(text: str) -> Read:
    """Return the recipe in a pasted text, and what could not be told."""
    lines = text.strip("\n").split("\n")
    title = one_line(lines[0]).lstrip("#").strip(" *:")[:LONGEST_NAME]
    body = lines[1:]
    if any(is_part_alone(line) for line in body):
        return _titled(title, body)
    ingredients, steps = _sorted_lines(body)
    if not ingredients:
        return _titled(title, body)
    marked = ["Ingredients:", *(f"- {line}" for line in ingredients), "", "Directions:"]
    recipe, warnings = _titled(title, [*marked, *(f"1. {line}" for line in steps)])
    guessed = Warned(
        "no_headings",
        "The text has no headings; lines with amounts are taken as ingredients.",
        recipe.name,
    )
    return recipe, (guessed, *warnings)


def _titled(title: str, body: list[str]) -> Read:
    marked = [f"# {escaped(title)}" if title else "", "", *(_headed(line) for line in body)]
    return read_markdown("\n".join(marked))


def _headed(line: str) -> str:
    return f"## {line.strip(' :*#=-')}" if is_part_alone(line) else line


def _sorted_lines(body: list[str]) -> tuple[list[str], list[str]]:
    """Part the lines: ingredients until the first that reads as something to do."""
    ingredients: list[str] = []
    steps: list[str] = []
    for line in (one_line(line) for line in body):
        if not line:
            continue
        is_step = _NUMBERED.match(line) is not None or len(line.split()) > _WORDS_OF_A_STEP
        if steps or is_step or (not ingredients and parse_line(line).quantity is None):
            steps.append(_NUMBERED.sub("", line))
        else:
            ingredients.append(line)
    return ingredients, steps

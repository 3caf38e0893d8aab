"""A recipe as Markdown that reads back as the same recipe.

Ingredient lines are written as they came; everything else is escaped, so that text stays text.
"""

from callboard.packs.alfred.kitchen.recipes.lines import IngredientLine
from callboard.packs.alfred.kitchen.recipes.recipe import Facts, ImportedRecipe, ImportedStep
from callboard.packs.alfred.kitchen.recipes.text import escaped, one_line


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


def _bullets(facts: Facts) -> str:
    lines = [
        f"- {label}: {value}"
        for label, value in (
            ("⏲️ Prep time", _minutes(facts.prep_minutes)),
            ("🍳 Cook time", _minutes(facts.cook_minutes)),
            ("🍽️ Servings", _servings(facts)),
        )
        if value
    ]
    return "\n".join(lines)


def _minutes(minutes: int | None) -> str:
    return "" if minutes is None else f"{minutes} min"


def _servings(facts: Facts) -> str:
    if facts.servings is None:
        return ""
    shown = _number(facts.servings)
    if facts.servings_high is not None:
        shown = f"{shown}-{_number(facts.servings_high)}"
    return f"{shown} {facts.yields or ''}".strip()


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _ingredients(lines: tuple[IngredientLine, ...]) -> str:
    if not lines:
        return ""
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

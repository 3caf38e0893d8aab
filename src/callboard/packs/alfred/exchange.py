"""Exchange: recipes come in from files and texts; recipes, plans and lists go out as such."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.choreography.turn.domain import Row, Who
from callboard.choreography.turn.requests import WriteError, WriteResult
from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.alfred.kitchen.domain import Kitchen
from callboard.packs.alfred.project import KitchenProject
from callboard.tools import off_loop

if TYPE_CHECKING:
    from callboard.packs.alfred.kitchen.recipes.recipe import ImportReport

FORMATS: Final = ("markdown", "jsonld")


async def read_recipes(source: Path | bytes | str, kind: str | None = None) -> "ImportReport":
    """Read recipes from a file or pasted text; nothing is written."""
    return await off_loop(_read_recipes, source, kind)


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: what was read, what was stored, and why some was not, by name."""

    report: "ImportReport"
    written: list[WriteResult]
    refused: Mapping[str, str]


async def import_recipes(
    project: KitchenProject,
    who: Who,
    source: Path | bytes | str,
    kind: str | None = None,
    *,
    anyway: bool = False,
) -> Imported:
    """Read recipes and write them, each by itself; one that is there already is told.

    One that somebody in the house must not eat is left out, unless it is wanted `anyway`.
    """
    from callboard.packs.alfred.kitchen.recipes.writing.records import to_write

    report = await read_recipes(source, kind)
    written: list[WriteResult] = []
    refused: dict[str, str] = {}
    write = project.write_anyway if anyway else project.write
    for recipe in report.recipes:
        try:
            written.append(await write(who, to_write(recipe)))
        except WriteError as error:
            if error.kind != "needs_confirmation":
                raise
            refused[recipe.name] = error.message
    return Imported(report, written, refused)


async def export_recipes(
    kitchen: Kitchen, who: Who, names: Sequence[str] = (), as_format: str = "markdown"
) -> dict[str, str]:
    """Return recipes as texts of a format, by name; without names, all of them."""
    from callboard.packs.alfred.kitchen.recipes.writing.records import from_row
    from callboard.packs.alfred.kitchen.recipes.writing.texts import write_jsonld, write_markdown

    if as_format not in FORMATS:
        raise InvalidInput(f"{as_format!r} is no format", fix=f"Formats: {', '.join(FORMATS)}.")
    write = write_markdown if as_format == "markdown" else write_jsonld
    rows = await _recipes(kitchen, who, names)
    return await off_loop(lambda: {str(row["name"]): write(from_row(row)) for row in rows})


async def export_calendar(kitchen: Kitchen, who: Who, start: str, end: str) -> str:
    """Return planned meals as an iCalendar file."""
    from datetime import UTC, datetime

    from callboard.packs.alfred.kitchen.recipes.writing.lists import (
        CalendarTimes,
        write_calendar,
    )

    between = {"field": "plan_date", "op": "between", "value": [start, end]}
    rows = await kitchen.all_rows(who, table="meal_plans", filters=[between], include=["recipe"])
    meals = [{**row, "recipe_name": _inner(row, "recipe", "name")} for row in rows]
    now = datetime.fromtimestamp(kitchen.clock.now_ms() / 1000, tz=UTC)
    return await off_loop(write_calendar, meals, now, CalendarTimes(zone=who.timezone))


async def export_shopping(kitchen: Kitchen, who: Who) -> str:
    """Return the shopping list as text, grouped as its owner likes it."""
    from callboard.packs.alfred.kitchen.recipes.writing.lists import write_shopping

    still = {"field": "status", "op": "in", "value": ["needed", "in_cart"]}
    rows = await kitchen.all_rows(
        who, table="shopping_items", filters=[still], include=["ingredient"]
    )
    profile = await kitchen.profile_row(who)
    items = [{**row, "aisle": _inner(row, "ingredient", "aisle")} for row in rows]
    order = str(profile.get("list_organization") or "by_category")
    return await off_loop(write_shopping, items, order)


async def _recipes(kitchen: Kitchen, who: Who, names: Sequence[str]) -> Sequence[Row]:
    include = ["ingredients", "steps", "tags"]
    if not names:
        return await kitchen.all_rows(who, table="recipes", include=include)
    found: list[Row] = []
    for name in names:
        same = {"field": "name", "op": "eq", "value": name}
        rows = await kitchen.all_rows(who, table="recipes", filters=[same], include=include)
        if not rows:
            raise NotFound(f"You have no recipe called {name!r}", fix="Look at your recipes.")
        found += rows
    return found


def _read_recipes(source: Path | bytes | str, kind: str | None) -> "ImportReport":
    # Loaded in the thread as well: the first who reads one waits, nobody else.
    from callboard.packs.alfred.kitchen.recipes.reading.importing import import_file

    return import_file(source, kind)


def _inner(row: Row, relation: str, column: str) -> Any:
    """Return what a row's related row says."""
    related: Any = row.get(relation)
    return cast("Row", related).get(column) if isinstance(related, Mapping) else None

"""Importing recipes from files: read, shown with what is uncertain, and stored if wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from callboard.cli.output import clean, counted, echo, echo_json, remark
from callboard.core.canonical import plain
from callboard.core.errors import CallboardError, NotFound
from callboard.packs.alfred.house import Alfred
from callboard.packs.alfred.kitchen.recipes import ImportedRecipe

_SUFFIXES: Final = (".md", ".markdown", ".txt", ".json", ".jsonld", ".html", ".htm")


async def read_files(
    alfred: Alfred, paths: Sequence[Path], *, write: bool, user: str | None, as_json: bool
) -> None:
    """Read recipe files one by one; one that cannot be read does not keep the others."""
    told: list[object] = []
    stored = flagged = lines = 0
    for path in _files(paths):
        try:
            report = await alfred.read_recipes(path)
            if write:
                await alfred.import_recipes(alfred.who(user), path)
                stored += len(report.recipes)
        except CallboardError as error:
            told.append({"file": str(path), "error": error.message})
            if not as_json:
                remark(clean(f"{path.name}: {error.message}. {error.fix or ''}"))
            continue
        told.append({"file": str(path), **plain(asdict(report))})
        for recipe in report.recipes:
            lines += len(recipe.ingredients)
            flagged += sum(1 for line in recipe.ingredients if line.flags)
            if not as_json:
                _show(recipe)
    if as_json:
        echo_json(told)
        return
    echo(f"{counted(lines, 'line')}, {flagged} to look at; {counted(stored, 'recipe')} stored.")
    if not write:
        remark("Nothing was stored: --write does that.")


def _show(recipe: ImportedRecipe) -> None:
    echo(clean(f"{recipe.name}: {counted(len(recipe.ingredients), 'ingredient')}"))
    if not recipe.ingredients:
        remark("  look at: no ingredients were found; a heading “Ingredients” helps")
    for line in recipe.ingredients:
        if line.flags:
            remark(clean(f"  look at: {line.raw}  ({', '.join(line.flags)})"))


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
        elif path.is_file():
            yield path
        else:
            raise NotFound(f"There is no file {path}", fix="Name a file or a folder.")

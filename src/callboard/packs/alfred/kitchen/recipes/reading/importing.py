"""A file or a pasted text, recognised and read. Nothing is written: the report is the preview."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from callboard.core.errors import NotFound
from callboard.packs.alfred.kitchen.recipes.reading.jsonld import load_json, read_jsonld
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    MOST_BYTES,
    MOST_TEXT_BYTES,
    RecipeUnreadable,
    check_text,
    decode,
)
from callboard.packs.alfred.kitchen.recipes.reading.markdown import Read, read_markdown
from callboard.packs.alfred.kitchen.recipes.reading.pages import MOST_BLOCKS, json_blocks
from callboard.packs.alfred.kitchen.recipes.reading.plain import read_plain
from callboard.packs.alfred.kitchen.recipes.recipe import ImportedRecipe, ImportReport, Warned
from callboard.store.reading import FileRefused, read_bounded

_MARKED: Final = re.compile(r"^(?:#{1,6}\s|[^\S\n]*+[-*+]\s|\*\*)", re.MULTILINE)
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html|head|script|body)\b", re.IGNORECASE)


class Kind(StrEnum):
    """What a file of recipes may be."""

    MARKDOWN = "markdown"
    JSONLD = "jsonld"
    HTML = "html"
    TEXT = "text"


_SUFFIXES: Final = {
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".json": Kind.JSONLD,
    ".jsonld": Kind.JSONLD,
    ".html": Kind.HTML,
    ".htm": Kind.HTML,
    ".txt": Kind.TEXT,
}


def import_file(source: Path | bytes | str, kind: str | None = None) -> ImportReport:
    """Read a file, its bytes, or a pasted text, and report what it holds.

    A `str` is always the text itself, never a path: pasted text cannot name a file.
    """
    text = check_text(_text_of(source))
    chosen = _kind(kind) if kind else _recognised(source, text)
    reads, warnings = _read(text, chosen)
    recipes = tuple(recipe for recipe, _ in reads)
    told = tuple(warned for _, held in reads for warned in held)
    return ImportReport(chosen.value, recipes, (*warnings, *told, *_unsure(recipes)))


def _text_of(source: Path | bytes | str) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, bytes):
        return decode(source)
    try:
        # One byte more than is allowed: how a text that is too long is told of is decided there.
        return decode(read_bounded(source, limit_bytes=MOST_BYTES + 1))
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {source.name!r}.", fix="Check the path.") from error
    except FileRefused as refused:
        raise RecipeUnreadable(refused.message, fix=refused.fix) from refused


def _kind(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError as error:
        known = ", ".join(kind.value for kind in Kind)
        raise RecipeUnreadable(
            f"{name!r} is no kind of recipe file.", fix=f"Use one of {known}, or leave it out."
        ) from error


def _recognised(source: Path | bytes | str, text: str) -> Kind:
    """Tell the kind by what the text is; the file's ending only settles what the text does not."""
    start = text.lstrip()
    if start.startswith(("{", "[{")) or re.match(r"\[\s*\{", start):
        return Kind.JSONLD
    if _PAGE.match(start) or "application/ld+json" in text:
        return Kind.HTML
    if isinstance(source, Path) and source.suffix.casefold() in _SUFFIXES:
        return _SUFFIXES[source.suffix.casefold()]
    has_front_matter = start.startswith("---\n")
    return Kind.MARKDOWN if has_front_matter or _MARKED.search(text) else Kind.TEXT


def _read(text: str, kind: Kind) -> tuple[list[Read], tuple[Warned, ...]]:
    match kind:
        case Kind.MARKDOWN:
            return [read_markdown(check_text(text, MOST_TEXT_BYTES))], ()
        case Kind.TEXT:
            return [read_plain(check_text(text, MOST_TEXT_BYTES))], ()
        case Kind.JSONLD:
            return _some(read_jsonld(load_json(text)), "The JSON"), ()
        case Kind.HTML:
            return _read_page(text)


def _read_page(text: str) -> tuple[list[Read], tuple[Warned, ...]]:
    held: list[Any] = []
    warnings: list[Warned] = []
    blocks = json_blocks(text)
    if len(blocks) > MOST_BLOCKS:
        told = f"Only the first {MOST_BLOCKS} blocks of JSON-LD on the page are read."
        warnings.append(Warned("too_many", told))
    for block in blocks[:MOST_BLOCKS]:
        try:
            held.append(load_json(block))
        except RecipeUnreadable as error:
            warnings.append(Warned("block_unread", error.message))
    return _some(read_jsonld(held), "The page"), tuple(warnings)


def _some(reads: list[Read], what: str) -> list[Read]:
    if not reads:
        raise RecipeUnreadable(
            f"{what} holds no schema.org Recipe.",
            fix="Paste the recipe as text, with Ingredients and Directions headed.",
        )
    return reads


def _unsure(recipes: tuple[ImportedRecipe, ...]) -> tuple[Warned, ...]:
    return tuple(
        Warned("line_unsure", f"{line.raw} ({', '.join(line.flags)})", recipe.name)
        for recipe in recipes
        for line in recipe.unsure
    )

"""Importing: recipes from a file, a page or pasted text, by what it looks like."""

import re
from enum import StrEnum
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from callboard.core.errors import NotFound
from callboard.packs.alfred.kitchen.recipes.reading.jsonld import load_json, read_jsonld
from callboard.packs.alfred.kitchen.recipes.reading.layout import headed, split_title
from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    LONGEST_NAME,
    MOST_BYTES,
    MOST_TEXT_BYTES,
    RecipeUnreadable,
    check_text,
    decode,
    is_part_alone,
)
from callboard.packs.alfred.kitchen.recipes.reading.markdown import Read, read_markdown
from callboard.packs.alfred.kitchen.recipes.recipe import ImportedRecipe, ImportReport, Warned
from callboard.packs.alfred.kitchen.recipes.text import escaped, one_line
from callboard.store.reading import FileRefused, read_bounded

MOST_BLOCKS: Final = 20
_LONGEST_TAG: Final = 2_000
_OPENED: Final = re.compile(r"<script\b", re.IGNORECASE)
_CLOSED: Final = re.compile(r"</script\b", re.IGNORECASE)


def json_blocks(page: str) -> list[str]:
    """Return the JSON-LD texts of a page, in order; one more than are read, if there are more."""
    found: list[str] = []
    start = 0
    while len(found) <= MOST_BLOCKS:
        opened = _OPENED.search(page, start)
        if opened is None:
            break
        end = page.find(">", opened.end(), opened.end() + _LONGEST_TAG)
        closed = _CLOSED.search(page, opened.end())
        if closed is None:
            break
        start = closed.end()
        if end < 0:
            continue
        held = page[end + 1 : closed.start()].strip()
        if held and _kind_of(page[opened.start() : end + 1]) == "application/ld+json":
            found.append(held)
    return found


def _kind_of(tag: str) -> str:
    reader = _TagReader()
    reader.feed(tag)
    return reader.kind.partition(";")[0].strip().casefold()


class _TagReader(HTMLParser):
    """Reads the type of one opening tag."""

    kind = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the type of the tag."""
        self.kind = next((value for name, value in attrs if name == "type"), None) or ""


_MARKED: Final = re.compile(r"^(?:#{1,6}\s|[^\S\n]*+[-*+]\s|\*\*)", re.MULTILINE)
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html|head|script|body)\b", re.IGNORECASE)


class SourceKind(StrEnum):
    """What a file of recipes may be."""

    MARKDOWN = "markdown"
    JSONLD = "jsonld"
    HTML = "html"
    TEXT = "text"


_SUFFIXES: Final = {
    ".md": SourceKind.MARKDOWN,
    ".markdown": SourceKind.MARKDOWN,
    ".json": SourceKind.JSONLD,
    ".jsonld": SourceKind.JSONLD,
    ".html": SourceKind.HTML,
    ".htm": SourceKind.HTML,
    ".txt": SourceKind.TEXT,
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


def _kind(name: str) -> SourceKind:
    try:
        return SourceKind(name)
    except ValueError as error:
        known = ", ".join(kind.value for kind in SourceKind)
        raise RecipeUnreadable(
            f"{name!r} is no kind of recipe file.", fix=f"Use one of {known}, or leave it out."
        ) from error


def _recognised(source: Path | bytes | str, text: str) -> SourceKind:
    """Tell the kind by what the text is; the file's ending only settles what the text does not."""
    start = text.lstrip()
    if start.startswith(("{", "[{")) or re.match(r"\[\s*\{", start):
        return SourceKind.JSONLD
    if _PAGE.match(start) or "application/ld+json" in text:
        return SourceKind.HTML
    if isinstance(source, Path) and source.suffix.casefold() in _SUFFIXES:
        return _SUFFIXES[source.suffix.casefold()]
    has_front_matter = start.startswith("---\n")
    return SourceKind.MARKDOWN if has_front_matter or _MARKED.search(text) else SourceKind.TEXT


def _read(text: str, kind: SourceKind) -> tuple[list[Read], tuple[Warned, ...]]:
    match kind:
        case SourceKind.MARKDOWN:
            return [_read_marked(check_text(text, MOST_TEXT_BYTES))], ()
        case SourceKind.TEXT:
            return [read_plain(check_text(text, MOST_TEXT_BYTES))], ()
        case SourceKind.JSONLD:
            return _some(read_jsonld(load_json(text)), "The JSON"), ()
        case SourceKind.HTML:
            return _read_page(text)


def _read_marked(text: str) -> Read:
    """Return the recipe in Markdown; without a heading over its list the list is looked for."""
    title, body = split_title(text)
    try:
        read = read_markdown(text)
    except RecipeUnreadable:
        guessed = _guessed(title, body)
        if guessed is None:
            raise
        return guessed
    # A list that is there and empty says that nothing goes in: a number elsewhere is no ingredient.
    is_told = bool(read[0].ingredients) or _EMPTY_LIST.search(text) is not None
    return read if is_told else _guessed(title, body) or read


_EMPTY_LIST: Final = re.compile(r"^## Ingredients\s*(?=^#|\Z)", re.MULTILINE)


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


def read_plain(text: str) -> Read:
    """Return the recipe in a pasted text, and what could not be told."""
    lines = text.strip("\n").split("\n")
    title = one_line(lines[0]).lstrip("#").strip(" *:")[:LONGEST_NAME]
    body = lines[1:]
    if any(is_part_alone(line) for line in body):
        return _titled(title, body)
    return _guessed(f"# {escaped(title)}" if title else "", body) or _titled(title, body)


def _guessed(title: str, body: list[str]) -> Read | None:
    """Return a recipe whose lists have no headings, or None if there are no lists in it."""
    sorted_lines = headed(body)
    if sorted_lines is None:
        return None
    recipe, warnings = read_markdown("\n".join([title, "", *sorted_lines]))
    guessed = Warned(
        "no_headings",
        "The text has no headings; lists and lines with amounts are taken as ingredients.",
        recipe.name,
    )
    return recipe, (guessed, *warnings)


def _titled(title: str, body: list[str]) -> Read:
    marked = [f"# {escaped(title)}" if title else "", "", *(_headed(line) for line in body)]
    return read_markdown("\n".join(marked))


def _headed(line: str) -> str:
    return f"## {line.strip(' :*#=-')}" if is_part_alone(line) else line

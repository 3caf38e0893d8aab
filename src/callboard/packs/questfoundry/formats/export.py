"""Export: a book as the files of the formats somebody asks for; the same book gives the same bytes.

It writes no file and knows no clock. What a format cannot hold is told beforehand, by name.
"""

import asyncio
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import compact_json
from callboard.core.errors import CallboardError, Fault, InvalidInput
from callboard.packs.questfoundry.book.model import METADATA, Book, Section
from callboard.packs.questfoundry.book.playing import needs, nothing_written
from callboard.packs.questfoundry.formats.naming import ordered
from callboard.packs.questfoundry.formats.prose import WORDS, PageWords, is_turning
from callboard.packs.questfoundry.formats.reading.dialects import FORMATS, HARLOWE, SUGARCUBE
from callboard.packs.questfoundry.formats.writing.epub import epub_of
from callboard.packs.questfoundry.formats.writing.graph import dot_of, graph_json_of
from callboard.packs.questfoundry.formats.writing.html import html_of
from callboard.packs.questfoundry.formats.writing.ink import ink_json_of, ink_of
from callboard.packs.questfoundry.formats.writing.markdown import markdown_of
from callboard.packs.questfoundry.formats.writing.paper import can_print, numbered, pdf_of
from callboard.packs.questfoundry.formats.writing.printed import Printing
from callboard.packs.questfoundry.formats.writing.twine import own_dialect, twee_of, twine_of

NUMBERS: Final = "book.numbers.json"
PATHS: Final[Mapping[str, str]] = {
    "html": "book.html",
    "markdown": "book.md",
    "epub": "book.epub",
    "pdf": "book.pdf",
    "twee-sugarcube": "book.sugarcube.twee",
    "twee-harlowe": "book.harlowe.twee",
    "twee": "book.twee",
    "twine": "book.twine.html",
    "ink": "book.ink",
    "ink-json": "book.ink.json",
    "dot": "book.dot",
    "graph-json": "book.graph.json",
}
_PRINTED: Final = ("markdown", "epub", "pdf")
# Their choices are a list below the text.
_BELOW: Final = ("html", *_PRINTED, "ink", "ink-json")


class CannotExport(CallboardError):
    """The book cannot be made in a format."""

    code = "quest_cannot_export"
    fault = Fault.STATE


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What a build may be told.

    `numbers` is the table of the last edition on paper; `any_font` lets the PDF use the fonts of
    this machine, which another one may not have.
    """

    seed: int = 0
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    words: PageWords = WORDS
    any_font: bool = False


async def build(
    book: Book, formats: Sequence[str], options: ExportOptions | None = None
) -> dict[str, bytes]:
    """Return the files by their names; paper brings the table of its numbers."""
    told = options or ExportOptions()
    unknown = sorted(set(formats) - PATHS.keys())
    if unknown:
        raise InvalidInput(
            f"{', '.join(unknown)} is no format of a book", fix=f"There are {', '.join(PATHS)}."
        )
    if not book.sections:
        raise nothing_written()
    if book.start not in book.by_id:
        raise CannotExport(
            f"The book starts at {book.start!r}, which is no section of it",
            fix="Name a section that exists as its start.",
        )
    wanted = dict.fromkeys(formats)
    # The makers of EPUB and PDF work beside us; what one of them refuses is told when all are done.
    made = await asyncio.gather(
        *(_made(book, name, told) for name in wanted), return_exceptions=True
    )
    files: dict[str, bytes] = {}
    for each in made:
        if isinstance(each, BaseException):
            raise each
        files |= each
    return files


async def _made(book: Book, name: str, told: ExportOptions) -> dict[str, bytes]:
    if name == "epub":
        return {PATHS[name]: await epub_of(book, told.words)}
    if name == "pdf":
        numbers = numbered(book, told.seed, told.numbers)
        made = await asyncio.to_thread(pdf_of, book, told.words, numbers, any_font=told.any_font)
        return {PATHS[name]: made, NUMBERS: (compact_json(numbers) + "\n").encode()}
    return {PATHS[name]: await asyncio.to_thread(_written, book, name, told.words)}


def _written(book: Book, name: str, words: PageWords) -> bytes:
    match name:
        case "html":
            return html_of(book, words)
        case "markdown":
            return markdown_of(book, words)
        case "twee-sugarcube":
            return twee_of(book, SUGARCUBE)
        case "twee-harlowe":
            return twee_of(book, HARLOWE)
        case "twee":
            return twee_of(book, own_dialect(book))
        case "twine":
            return twine_of(book)
        case "ink":
            return ink_of(book, words)
        case "ink-json":
            return ink_json_of(book, words)
        case "dot":
            return dot_of(book)
        case _:
            return graph_json_of(book)


def losses(book: Book, formats: Sequence[str], options: ExportOptions | None = None) -> list[str]:
    """Say what this book loses in these formats, or which of them cannot be made here."""
    told = options or ExportOptions()
    found: list[str] = []
    if "pdf" in formats and not can_print():
        found.append("pdf: not available; the extra `pdf` is not installed")
    printed = [each for each in _PRINTED if each in formats]
    untold = Printing(book, told.words).untold() if printed else []
    if untold:
        found.append(
            f"{', '.join(printed)}: {len(untold)} choices are printed without a condition, for"
            f" want of a reviewed codeword or the words of a gateway: {', '.join(untold[:5])}"
        )
    if "pdf" in formats and not told.any_font and (signs := _beyond_fonts(book)):
        found.append(f"pdf: the fonts it brings have no {' '.join(signs)}; build with any_font")
    shown = [each for each in formats if each not in ("dot", "graph-json")]
    turning = [each.id for each in book.sections if any(map(is_turning, _said(each)))]
    if turning and shown:
        found.append(
            f"{', '.join(shown)}: marks that force a direction are written as isolates that end"
            f" with their line, in {len(turning)} sections: {', '.join(turning[:5])}"
        )
    return [*found, *_of_import(book, formats)]


def _said(section: Section) -> Iterator[str]:
    yield section.text
    yield from (each.label for each in section.choices)


def _of_import(book: Book, formats: Sequence[str]) -> Iterator[str]:
    """Say what of an imported story does not work in these formats, or stands elsewhere."""
    own = own_dialect(book)
    at_home = ("twee", "twine", f"twee-{own}")
    named = FORMATS.get(own, {}).get("format", own.title())
    for told, names in ((named, at_home), ("Ink", ("ink",))):
        kept = sum(
            (each.origin == "ink") is (told == "Ink") and not each.is_form and each.name != METADATA
            for each in book.verbatim
        )
        others = [each for each in formats if each not in names]
        if kept and others:
            yield f"{', '.join(others)}: {kept} parts kept of {told} do not work in it"
    links = sum(len(each.places) for each in book.verbatim if each.is_anchor)
    others = [each for each in formats if each in _BELOW]
    if links and others:
        yield f"{', '.join(others)}: {links} links that stood within sentences stand below the text"
    bound = [
        choice.id
        for section in book.sections
        for choice in section.choices
        if choice.effects or needs(book, choice)
    ]
    others = [each for each in formats if each in ("twee", "twine")]
    if bound and others and own not in FORMATS:
        yield (
            f"{', '.join(others)}: {len(bound)} choices lose their conditions and effects, for no"
            f" program is written for {named}: {', '.join(bound[:5])}"
        )


def _beyond_fonts(book: Book) -> list[str]:
    """Return a few signs that the fonts of the PDF lack: pictographs and most scripts of Asia."""
    found: dict[str, None] = {}
    for section in ordered(book):
        for sign in section.text:
            if sign > "\u05ff" and unicodedata.category(sign) in ("Lo", "So"):
                found[sign] = None
                if len(found) >= 5:
                    return list(found)
    return list(found)

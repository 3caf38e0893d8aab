"""Paper: the book as a numbered gamebook in PDF, and the table that keeps its numbers.

Sections stand in an order drawn from a seed, the start first. A number that was given once stays
with its section in later editions and goes to no other when the section is gone.
"""

import random
import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.core.errors import CallboardError
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.prose import PageWords, one_line
from callboard.packs.questfoundry.formats.writing.printed import (
    PrintedChoice,
    PrintedSection,
    Printing,
)

_HERE: Final = files(__package__ or __name__)
_LANGUAGE_LETTERS: Final = (2, 3)


class CannotPrint(CallboardError):
    """The PDF could not be made."""

    code = "quest_cannot_print"


def can_print() -> bool:
    """Say whether the maker of PDF files is installed."""
    return find_spec("typst") is not None


def numbered(book: Book, seed: int, kept: Mapping[str, int]) -> dict[str, int]:
    """Return the number table: kept numbers, then new ones for new sections in drawn order."""
    table = dict(kept)
    fresh = sorted(each for each in book.by_id if each not in table)
    # Nothing secret hangs on the order; it must be the same for the same seed, always.
    random.Random(seed).shuffle(fresh)  # noqa: S311
    if book.start in fresh:
        fresh.remove(book.start)
        fresh.insert(0, book.start)
    next_number = max(table.values(), default=0) + 1
    table.update({each: number for number, each in enumerate(fresh, next_number)})
    return dict(sorted(table.items(), key=lambda pair: pair[1]))


def pdf_of(book: Book, words: PageWords, numbers: Mapping[str, int], *, any_font: bool) -> bytes:
    """Return the gamebook; `any_font` lets in the fonts that this machine has."""
    try:
        maker: Any = import_module("typst")
    except ImportError as error:
        raise CannotPrint(
            "A PDF needs the package typst", fix="pip install 'callboard[pdf]'"
        ) from error
    source = _HERE.joinpath("gamebook.typ.txt").read_bytes()
    data = {"book": compact_json(_pages(book, words, numbers))}
    try:
        with warnings.catch_warnings():
            # A font that lacks a sign is told among the losses, not on the terminal.
            warnings.simplefilter("ignore")
            return maker.compile(
                source, sys_inputs=data, ignore_system_fonts=not any_font, timestamp=0
            )
    except RuntimeError as error:
        raise CannotPrint(
            f"The PDF could not be made: {error}", fix="Build the other formats without pdf."
        ) from error


def _pages(book: Book, words: PageWords, numbers: Mapping[str, int]) -> dict[str, Any]:
    printed = sorted(Printing(book, words).sections(), key=lambda each: numbers[each.id])
    language = one_line(book.language).partition("-")[0].lower()
    return {
        "title": one_line(book.title),
        "author": one_line(book.author),
        "language": language if len(language) in _LANGUAGE_LETTERS else "en",
        "sections": [_section(each, words, numbers, book) for each in printed],
    }


def _section(
    section: PrintedSection, words: PageWords, numbers: Mapping[str, int], book: Book
) -> dict[str, Any]:
    number = numbers[section.id]
    return {
        "number": number,
        "heading": str(number),
        "plates": list(section.plates),
        "paragraphs": section.paragraphs,
        "notes": list(section.notes),
        "choices": [_choice(each, words, numbers, book) for each in section.choices],
        "end": section.end,
    }


def _choice(
    choice: PrintedChoice, words: PageWords, numbers: Mapping[str, int], book: Book
) -> dict[str, Any]:
    number = numbers.get(choice.to) if choice.to in book.by_id else None
    turn = words.unwritten if number is None else words.turn_to.format(number=number)
    return {
        "before": f"{choice.lead}{choice.label} –",
        "turn": turn,
        "after": " ".join(choice.notes),
        "to": number,
    }

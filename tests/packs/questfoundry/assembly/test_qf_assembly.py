"""What is taken apart and assembled again is the same book."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callboard.packs.questfoundry import foundry
from callboard.packs.questfoundry.assembly.assembling import BookNames, assemble
from callboard.packs.questfoundry.assembly.taking_apart import difference, take_apart
from callboard.packs.questfoundry.book.model import Book, ProseStyle, Verbatim
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, grow


def again(book: Book) -> Book:
    page = BookNames(book.title, book.ifid, book.author, book.language)
    made = assemble(take_apart(book), page)
    return replace(made, style=book.style, spoilers=book.spoilers)


@pytest.mark.parametrize("seed", range(6))
def test_grown_books_survive(seed: int) -> None:
    book = grow(GrowthPlan(seed=seed, sections=30))
    assert again(book) == book
    assert difference(book, again(book)).is_empty


def test_the_sample_survives_and_so_does_what_nobody_understood() -> None:
    path = Path(foundry.__file__).parent / "sample" / "the-salt-bell.json"
    book = Book.from_json(json.loads(path.read_text("utf-8")))
    kept = Verbatim("Script", "twee", "<<run x>>", "a script", None, "sugarcube", (3, 9))
    book = replace(book, verbatim=(kept,))
    assert again(book) == book


def test_a_difference_names_sections_and_parts() -> None:
    book = grow(GrowthPlan(seed=1, sections=30))
    first, second, *rest = book.sections
    other = replace(book, sections=(replace(first, text="Other."), *rest), style=ProseStyle())
    told = difference(book, other)
    assert told.changed == {first.id: ("text",)} and told.removed == (second.id,)
    assert not told.added and not told.is_empty

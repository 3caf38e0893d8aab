"""Translated books as files of their own: names, language tags, and what is not whole is told."""

import io
import zipfile
from typing import Any

import pytest

from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    Gateway,
    KeyChange,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.edition import LocaleEdition, edition_of, pieces_of
from callboard.packs.questfoundry.formats.export import PATHS, ExportOptions, build
from callboard.packs.questfoundry.formats.writing.paper import can_print

pytestmark = pytest.mark.anyio
BOOK = Book(
    "The Ford",
    "bank",
    (
        Section(
            "bank",
            "The bank",
            "You stand at the ford.",
            choices=(
                StoryChoice("wade", "Wade through", "far", effects=(KeyChange("set", "wet"),)),
                StoryChoice("boat", "Take the boat", "far", gateway="g1"),
            ),
        ),
        Section("far", "The far side", "You climb out.", SectionKind.TERMINAL),
    ),
    ifid="0F5F6A4E-7C0E-4C3B-9C59-3D0F4E1B7A11",
    gateways=(Gateway("g1", "bank", "oar", phrase="With an oar", refusal="You have no oar."),),
    codewords=(Codeword("oar", "HERON", reviewed=True),),
)


def _rows(book: Book, mark: str = "§", without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return [
        {**piece, "target": f"{mark}{piece['source']}", "status": "done"}
        for piece in pieces_of(book)
        if piece["id"] not in without
    ]


async def _built(edition: LocaleEdition, formats: list[str]) -> dict[str, bytes]:
    made = await build(edition.book, formats, ExportOptions(words=edition.words))
    return {edition.path(path): data for path, data in made.items()}


async def test_every_format_is_bound_in_the_other_language() -> None:
    edition = edition_of(BOOK, "de", _rows(BOOK))
    assert not edition.untranslated and not edition.outdated and not edition.limitations()
    wanted = [each for each in PATHS if each != "pdf" or can_print()]
    files = await _built(edition, wanted)
    assert {"book.de.html", "book.de.epub", "book.de.sugarcube.twee"} <= files.keys()
    assert all(name.startswith("book.de.") for name in files)
    page = files["book.de.html"].decode()
    assert '<html lang="de">' in page and "§You stand at the ford." in page
    assert "§Start again" in page and ">Start again" not in page
    for name in ("book.de.md", "book.de.ink", "book.de.sugarcube.twee"):
        told = files[name].decode()
        assert "§Wade through" in told and "§You climb out." in told
    with zipfile.ZipFile(io.BytesIO(files["book.de.epub"])) as archive:
        opf = archive.read("EPUB/content.opf").decode()
        chapter = archive.read("EPUB/text/ch001.xhtml").decode()
    assert "<dc:language>de</dc:language>" in opf and 'lang="de"' in chapter
    assert edition.book.ifid != BOOK.ifid


async def test_a_language_from_the_right_says_so() -> None:
    files = await _built(edition_of(BOOK, "he", _rows(BOOK)), ["html", "epub"])
    assert '<html lang="he" dir="rtl">' in files["book.he.html"].decode()
    with zipfile.ZipFile(io.BytesIO(files["book.he.epub"])) as archive:
        assert 'page-progression-direction="rtl"' in archive.read("EPUB/content.opf").decode()
        assert '<html dir="rtl" ' in archive.read("EPUB/text/ch001.xhtml").decode()
    latin = await _built(edition_of(BOOK, "az-Latn", _rows(BOOK)), ["html"])
    assert '<html lang="az-Latn">' in latin["book.az-Latn.html"].decode()


async def test_what_is_not_translated_is_named_and_says_so() -> None:
    edition = edition_of(BOOK, "de", _rows(BOOK, without=("section:far", "choice:wade")))
    assert edition.untranslated == ("choice:wade", "section:far")
    assert edition.limitations() == ["de: 2 are not translated: choice:wade, section:far"]
    text = edition.book.by_id["far"].text
    assert text == "[§This part is not translated yet.]\n\nYou climb out."


def test_what_was_made_of_other_words_is_named() -> None:
    rows = _rows(BOOK)
    rows[0]["source_sha256"] = "0" * 64
    next(row for row in rows if row["id"] == "choice:boat")["status"] = "outdated"
    edition = edition_of(BOOK, "de", rows)
    assert set(edition.outdated) == {"title", "choice:boat"} and not edition.untranslated


def test_a_page_word_that_lost_its_place_is_not_used() -> None:
    rows = _rows(BOOK)
    for row in rows:
        if row["id"] == "page:turn_to":
            row["target"] = "weiter bei {number.__class__} {number}"
    edition = edition_of(BOOK, "de", rows)
    assert edition.untranslated == ("page:turn_to",)
    assert edition.words.turn_to == "turn to {number}"


@pytest.mark.parametrize("locale", ["../de", "d", "de/..", ""])
def test_a_language_names_no_place(locale: str) -> None:
    from callboard.core.errors import InvalidInput

    with pytest.raises(InvalidInput, match="no name of a language"):
        edition_of(BOOK, locale, [])


def test_pieces_are_told_once() -> None:
    ids = [each["id"] for each in pieces_of(BOOK)]
    assert len(ids) == len(set(ids))

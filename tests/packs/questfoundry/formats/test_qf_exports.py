"""What a book becomes in each format: the same bytes every time, and its words as they were."""

import asyncio
import io
import json
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from pypdf import PdfReader

from callboard.core.errors import CallboardError, InvalidInput
from callboard.packs.questfoundry.book.model import (
    Book,
    Codeword,
    CodexEntry,
    Cue,
    EndingTitle,
    Gateway,
    KeyChange,
    KeyTest,
    Picture,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.export import (
    NUMBERS,
    PATHS,
    ExportOptions,
    build,
    losses,
)
from callboard.packs.questfoundry.formats.prose import PageWords, paragraphs
from quest_random_books import NASTY, books

BOOK = Book(
    "The Ferry & <Co>",
    "quay",
    (
        Section(
            "quay",
            "The quay",
            "You wait.\nIt rains.\n\nThe ferry comes.",
            choices=(
                StoryChoice("ask", "Ask the watchman", "watchman"),
                StoryChoice("board", "Board the ferry", "deck", gateway="plank"),
                StoryChoice("swim", "Swim", "deck", requires=(KeyTest("cloak", negated=True),)),
            ),
        ),
        Section(
            "watchman",
            "",
            "He nods.",
            effects=(KeyChange("set", "ticket_key"), KeyChange("set", "cloak")),
            choices=(StoryChoice("back", "Go back", "quay"),),
        ),
        Section("deck", "On deck", "You cross.", SectionKind.TERMINAL),
    ),
    ifid="6B1FEF33-2B5C-4D0B-9E39-0D3A6A1A7F10",
    author="A. Writer",
    gateways=(
        Gateway(
            "plank",
            "quay",
            "ticket_key",
            phrase="If the mate lets you",
            refusal="He shakes his head.",
        ),
    ),
    endings=(EndingTitle("deck", "Across"),),
    codewords=(Codeword("ticket_key", "STUB", reviewed=True), Codeword("cloak", "WOOL")),
    pictures=(Picture("p", "quay", "a quay", "The old quay", "A quay in the rain"),),
    cues=(Cue("c", "deck", "water", "Water laps"),),
    codex=(CodexEntry("ferry", "Ferry", "It crosses.", see_also=("ferry",)),),
)
ALL = tuple(PATHS)


def _built(book: Book, *formats: str, options: ExportOptions | None = None) -> dict[str, bytes]:
    return asyncio.run(build(book, formats, options))


def _needs_typst() -> None:
    pytest.importorskip("typst")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def handle_data(self, data: str) -> None:
        self.told.append(data)


def test_two_builds_of_all_formats_are_the_same_to_the_byte() -> None:
    _needs_typst()
    first = _built(BOOK, *ALL)
    assert set(first) == {*PATHS.values(), NUMBERS}
    assert _built(Book.from_json(BOOK.to_json()), *ALL) == first


def test_a_format_nobody_knows_and_a_book_without_a_start_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="scroll"):
        _built(BOOK, "scroll")
    with pytest.raises(CallboardError, match="nowhere"):
        _built(replace(BOOK, start="nowhere"), "html")


def test_the_page_asks_no_network_and_holds_no_key_and_no_id_of_a_choice() -> None:
    page = _built(BOOK, "html")["book.html"].decode()
    assert "default-src 'none'" in page and "http" not in page.replace("http-equiv", "")
    for secret in ("ticket_key", "cloak", "plank", "STUB", '"ask"'):
        assert secret not in page
    assert not re.search(r"\son\w+=", page)


def test_the_page_is_built_for_screen_readers() -> None:
    page = _built(BOOK, "html")["book.html"].decode()
    assert '<html lang="en">' in page and page.count("<h1") == 1
    assert '<meta name="viewport"' in page and 'aria-live="polite"' in page
    assert "<title>The Ferry &amp; &lt;Co&gt;</title>" in page
    assert page.index("<main>") < page.index("<footer>")
    assert '<button type="button" id="restart">Start again</button>' in page


def test_a_translation_brings_its_own_words() -> None:
    words = PageWords(end="Ende", restart="Von vorn", turn_to="weiter bei {number}")
    page = _built(BOOK, "html", options=ExportOptions(words=words))["book.html"].decode()
    assert "Von vorn" in page and "Start again" not in page


@given(books())
def test_no_prose_leaves_the_place_it_was_given_in_the_page(book: Book) -> None:
    page = _built(book, "html")["book.html"].decode()
    assert page.count("<script") == 2 == page.count("</script")
    data = json.loads(page.split('id="book">')[1].split("</script>")[0])
    told = [each["text"] for each in data["sections"]]
    assert told == [paragraphs(each.text) for each in book.sections]


@given(books())
def test_markdown_shows_prose_as_it_was_written(book: Book) -> None:
    text = _built(book, "markdown")["book.md"].decode()
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = _Text()
    shown.feed(reader.render(text))
    words = " ".join("".join(shown.told).split())
    for section in book.sections:
        for lines in paragraphs(section.text):
            assert " ".join(" ".join(lines).split()) in words


@settings(max_examples=6)
@given(books(most=4))
def test_an_epub_shows_prose_as_it_was_written(book: Book) -> None:
    data = _built(book, "epub")["book.epub"]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist()[0] == "mimetype"
        told = ""
        for name in archive.namelist():
            if name.endswith(".xhtml"):
                root = ElementTree.fromstring(archive.read(name))  # noqa: S314
                assert not list(root.iter("{http://www.w3.org/1999/xhtml}script"))
                told += " ".join(root.itertext())
    words = "".join(told.split())
    for section in book.sections:
        for lines in paragraphs(section.text):
            assert "".join("".join(lines).split()) in words


def test_an_epub_links_every_choice_to_its_section() -> None:
    with zipfile.ZipFile(io.BytesIO(_built(BOOK, "epub")["book.epub"])) as archive:
        told = "".join(archive.read(name).decode() for name in archive.namelist() if "ch0" in name)
    for anchor in ("s-quay", "s-watchman", "s-deck"):
        assert f'id="{anchor}"' in told and f"#{anchor}" in told


def test_what_cannot_keep_state_tells_reviewed_codewords_and_no_others() -> None:
    text = _built(BOOK, "markdown")["book.md"].decode()
    assert "If the mate lets you and If you have the codeword STUB" in text
    assert "Write down the codeword STUB" in text
    assert "WOOL" not in text and "cloak" not in text and "ticket" not in text
    assert any("swim" in told for told in losses(BOOK, ALL))
    reviewed = replace(BOOK, codewords=(*BOOK.codewords, Codeword("cloak", "WOOL", reviewed=True)))
    assert not any("swim" in told for told in losses(reviewed, ALL))


def _pdf_text(data: bytes) -> str:
    return " ".join(each.extract_text() for each in PdfReader(io.BytesIO(data)).pages)


def test_paper_keeps_its_numbers_between_editions() -> None:
    _needs_typst()
    first = _built(BOOK, "pdf", options=ExportOptions(seed=7))
    numbers = json.loads(first[NUMBERS])
    assert numbers["quay"] == 1 and sorted(numbers.values()) == [1, 2, 3]
    new = Section("attic", "", "Dust.", SectionKind.TERMINAL)
    fewer = replace(BOOK, sections=(BOOK.sections[0], new, BOOK.sections[2]))
    options = ExportOptions(seed=99, numbers=numbers)
    again = json.loads(_built(fewer, "pdf", options=options)[NUMBERS])
    assert {each: again[each] for each in numbers} == numbers and again["attic"] == 4
    text = _pdf_text(first["book.pdf"])
    assert "STUB" in text and "WOOL" not in text and f"turn to {numbers['deck']}" in text


def test_another_seed_is_another_order() -> None:
    _needs_typst()
    many = tuple(Section(f"x{n}", "", "x", SectionKind.TERMINAL) for n in range(30))
    book = replace(BOOK, sections=(*BOOK.sections, *many))
    tables = [
        json.loads(_built(book, "pdf", options=ExportOptions(seed=seed))[NUMBERS])
        for seed in (1, 1, 2)
    ]
    assert tables[0] == tables[1] != tables[2]


def test_paper_shows_prose_as_it_was_written() -> None:
    _needs_typst()
    lines = [each for each in NASTY if each.isascii()]
    book = replace(
        BOOK, sections=(replace(BOOK.sections[0], text="\n".join(lines)), *BOOK.sections[1:])
    )
    text = "".join(_pdf_text(_built(book, "pdf")["book.pdf"]).split())
    for line in lines:
        assert "".join(line.split()) in text, line


def test_without_its_extra_paper_is_told_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(CallboardError) as refused:
        _built(BOOK, "pdf")
    assert "callboard[pdf]" in (refused.value.fix or "")


def test_the_graph_names_every_section_and_choice() -> None:
    files = _built(BOOK, "dot", "graph-json")
    graph = json.loads(files["book.graph.json"])
    assert [each["id"] for each in graph["nodes"]] == ["quay", "watchman", "deck"]
    assert {each["id"] for each in graph["edges"]} == {"ask", "board", "swim", "back"}
    dot = files["book.dot"].decode()
    assert dot.count("->") == 5 and 'label="Swim (not cloak)"' in dot


def test_a_page_of_an_epub_is_named_after_its_heading() -> None:
    with zipfile.ZipFile(io.BytesIO(_built(BOOK, "epub")["book.epub"])) as archive:
        pages = [
            archive.read(each).decode()
            for each in archive.namelist()
            if each.startswith("EPUB/text/ch")
        ]
    assert pages
    for page in pages:
        title = page.partition("<title>")[2].partition("</title>")[0]
        assert title and not title.endswith(".xhtml") and f">{title}</h1>" in page


def test_numbers_stand_in_the_middle_of_the_page_whatever_the_section_holds() -> None:
    _needs_typst()
    places: list[float] = []

    def visit(text: str, matrix: list[float], *more: object) -> None:
        if text.strip().isdecimal():
            places.append(matrix[4])

    short, long = "Yes.", "The road goes on and on between the hedges, as roads do. " * 4
    sections = (
        Section("a", text=short, choices=(StoryChoice("a.1", "On", "b"),)),
        Section("b", text=long, kind=SectionKind.TERMINAL),
    )
    data = _built(Book("B", "a", sections), "pdf")["book.pdf"]
    PdfReader(io.BytesIO(data)).pages[1].extract_text(visitor_text=visit)
    assert len(places) >= 2 and max(places) - min(places) < 5, places


@pytest.mark.parametrize(
    ("phrase", "told"),
    [
        ("The plank is drawn in.", "The plank is drawn in. Board"),
        ("“Who are you?”", "“Who are you?” Board"),
        ("If you hold a ticket", "If you hold a ticket: Board"),
    ],
)
def test_a_gateway_on_paper_has_one_mark_before_its_choice(phrase: str, told: str) -> None:
    gateways = tuple(replace(each, phrase=phrase) for each in BOOK.gateways)
    bare = replace(BOOK, gateways=gateways, codewords=())
    text = re.sub(r"\\|[\[\]]|\(#[^)]*\)", "", _built(bare, "markdown")["book.md"].decode())
    assert told in text


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("a \u202eb", "a \u2067b\u2069"),
        ("\u202ax\u202c y\u202c", "\u2066x\u2069 y"),
        ("\u2068אב\u2069 ok", "\u2068אב\u2069 ok"),
        ("\u202d1\u2067 2", "\u20661\u2067 2\u2069\u2069"),
    ],
)
@pytest.mark.parametrize("form", ["html", "markdown", "twee-harlowe", "twee-sugarcube", "ink"])
def test_a_mark_of_direction_turns_nothing_around_it(told: str, shown: str, form: str) -> None:
    first = replace(BOOK.sections[0], text=f"{told}\nNext.")
    choices = (replace(first.choices[0], label=told), *first.choices[1:])
    book = replace(BOOK, sections=(replace(first, choices=choices), *BOOK.sections[1:]))
    (made,) = _built(book, form).values()
    text = made.decode()
    assert text.count(shown) >= 2
    assert not set("\u202a\u202b\u202c\u202d\u202e") & set(text)
    is_told = any("force a direction" in each and "quay" in each for each in losses(book, [form]))
    assert is_told is (told != shown)

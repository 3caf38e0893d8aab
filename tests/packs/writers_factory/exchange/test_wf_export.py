"""Books one could send out: the pages of an EPUB and of a manuscript, the same bytes each time."""

import io
import os
import shutil
import struct
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from epub_faults import epub_faults

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.operations import describe_book
from callboard.packs.writers_factory.exchange.export import (
    Edition,
    export_manuscript,
    preview_export,
)
from callboard.packs.writers_factory.exchange.operations import (
    export_book,
    set_title_page,
)
from callboard.packs.writers_factory.exchange.pages import rounded_count
from callboard.packs.writers_factory.exchange.title_page import CoverRefused, read_cover
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript.operations import name_chapter
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus

pytestmark = pytest.mark.anyio
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
NOTED = "She *counted* the steps[^a].\n\n---\n\nThen **again**.\n\n[^a]: Sixty-one.\n"
PNG = (
    b"\x89PNG\r\n\x1a\n"
    + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 2, 3, 8, 2, 0, 0, 0)
    + b"\x00" * 40
)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 3, 2) + b"\x00" * 20


async def written(factory: Factory) -> None:
    await factory.perform(describe_book, title="The Keeper's Daughter")
    for name, text in {
        "ch1-sc1": NOTED,
        "ch1-sc2": "The lamp was lit[^a].\n\n[^a]: At six.",
        "ch2-sc1": "Nobody came.",
    }.items():
        meta = SceneMeta(name, 0, 0, status=SceneStatus.DRAFTED)
        await factory.rooms.manuscript.save(name, text, meta, reason="written")
    await factory.perform(name_chapter, 1, "The Rock")


async def told(factory: Factory) -> None:
    await written(factory)
    await factory.perform(
        set_title_page,
        author="Ursula Le Page",
        surname="Le Page",
        contact=["1 Quay", "u@example.org"],
        language="en",
        date="2026-11",
    )


def parts(root: Path, suffix: str) -> dict[str, bytes]:
    data = (root / f"content/Export/The_Keeper_s_Daughter.{suffix}").read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def styled(document: bytes) -> list[tuple[str, str]]:
    """Return every paragraph with its style."""
    found: list[tuple[str, str]] = []
    for each in ElementTree.fromstring(document).iter(f"{W}p"):  # noqa: S314 - made by the test
        style = each.find(f"{W}pPr/{W}pStyle")
        words = "".join(
            {f"{W}t": part.text or "", f"{W}tab": "\t", f"{W}br": "\n"}.get(part.tag, "")
            for part in each.iter()
        )
        found.append(("" if style is None else str(style.get(f"{W}val")), words))
    return found


@pytest.mark.req("WF-G84")
async def test_the_manuscript_has_the_format_an_editor_expects(
    factory: Factory, root: Path
) -> None:
    await told(factory)
    made = await factory.perform(export_book, formats=("docx",))
    assert made.warnings == ()
    word = parts(root, "docx")
    page = styled(word["word/document.xml"])
    assert page[:4] == [
        ("Contact", "Ursula Le Page\tabout 100 words\n1 Quay\nu@example.org"),
        ("Title", "The Keeper's Daughter"),
        ("Author", "by Ursula Le Page"),
        ("Date", "2026-11"),
    ]
    assert ("Heading1", "Chapter 1\nThe Rock") in page and ("Heading1", "Chapter 2") in page
    assert page.count(("SceneBreak", "#")) == 2 and page[-1] == ("TheEnd", "END")
    head = word["word/header1.xml"].decode()
    assert "Le Page / THE KEEPER&#39;S DAUGHTER / " in head or "Le Page / THE KEEPER'S" in head
    assert "PAGE" in head and b"titlePg" in word["word/document.xml"]
    styles = word["word/styles.xml"].decode()
    assert "Times New Roman" in styles and 'w:line="480"' in styles
    assert "pageBreakBefore" in styles and b'w:left="1440"' in word["word/document.xml"]
    assert "Sixty-one." in word["word/footnotes.xml"].decode()
    assert word["word/document.xml"].count(b"footnoteReference w:id") == 2


@pytest.mark.req("WF-G84")
async def test_the_epub_has_cover_title_page_contents_and_footnotes(
    factory: Factory, root: Path
) -> None:
    await told(factory)
    await factory.perform(export_book, formats=("epub",))
    book = {name: data.decode() for name, data in parts(root, "epub").items()}
    cover, opf = book["EPUB/text/cover.xhtml"], book["EPUB/content.opf"]
    assert 'alt="Cover of The Keeper\'s Daughter by Ursula Le Page"' in cover
    assert 'properties="cover-image"' in opf and "<dc:language>en<" in opf
    assert "2026-11</dc:date>" in opf and "<text" in book["EPUB/cover.svg"]
    assert "Ursula Le Page" in book["EPUB/text/title_page.xhtml"]
    assert ">Chapter 1: The Rock</a>" in book["EPUB/nav.xhtml"]
    first = book["EPUB/text/ch001.xhtml"]
    assert first.count('epub:type="noteref"') == 2 and first.count("<aside ") == 2
    assert first.count('class="scene-break"') == 2
    assert (
        ".scene-break { margin: 1.5em 0; text-align: center" in book["EPUB/styles/stylesheet1.css"]
    )


async def test_the_same_book_has_the_same_bytes_and_an_older_one_is_kept(
    factory: Factory, root: Path
) -> None:
    await told(factory)
    first = await factory.perform(export_book)
    again = await factory.perform(export_book)
    assert [each.sha256 for each in first.files] == [each.sha256 for each in again.files]
    assert not any(each.backup for each in again.files)
    await factory.perform(set_title_page, author="Another Name")
    changed = await factory.perform(export_book)
    for old, new in zip(first.files, changed.files, strict=True):
        assert old.sha256 != new.sha256
        assert factory.workspace.files.read_backup(new.backup) is not None


async def test_what_nobody_said_is_left_out_and_told(factory: Factory, root: Path) -> None:
    await written(factory)
    made = await factory.perform(export_book)
    assert [each.split(" ")[0] for each in made.warnings] == ["author", "contact", "language"]
    page = styled(parts(root, "docx")["word/document.xml"])
    assert page[0] == ("Contact", "\tabout 100 words") and page[2][0] == "Heading1"
    assert "<dc:creator" not in parts(root, "epub")["EPUB/content.opf"].decode()


async def test_a_preview_writes_nothing(factory: Factory, root: Path) -> None:
    await told(factory)
    edition = Edition.of(factory.workspace)
    seen = preview_export(factory.workspace, edition, ("epub",))
    assert not (root / "content/Export").exists()
    assert [Path(each).suffix for each in seen.paths] == [".md", ".epub"]
    assert seen.chapters == ("1: The Rock", "2") and seen.replaced == ()
    assert seen.running_head == "Le Page / THE KEEPER'S DAUGHTER"
    await export_manuscript(factory.workspace, edition, ())
    assert preview_export(factory.workspace, edition, ()).replaced == seen.paths[:1]


@pytest.mark.parametrize(("data", "suffix"), [(PNG, "png"), (JPEG, "jpg")])
async def test_a_cover_is_told_by_its_bytes(
    factory: Factory, root: Path, data: bytes, suffix: str
) -> None:
    await told(factory)
    (root / "cover.dat").write_bytes(data)
    await factory.perform(set_title_page, cover="cover.dat", cover_text='A "lamp" <lit>')
    await factory.perform(export_book, formats=("epub",))
    book = parts(root, "epub")
    assert book[f"EPUB/cover.{suffix}"] == data
    assert 'A "lamp" &lt;lit&gt;\'' in book["EPUB/text/cover.xhtml"].decode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg onload='x'/>",
        b"\x89PNG\r\n\x1a\nnot a header at all",
        b"\xff\xd8\xff",
        PNG.replace(struct.pack(">II", 2, 3), struct.pack(">II", 20_000, 3)),
        PNG + b"\x00" * 4_000_000,
    ],
)
async def test_what_is_no_cover_is_refused(factory: Factory, root: Path, data: bytes) -> None:
    (root / "cover.png").write_bytes(data)
    with pytest.raises(CoverRefused):
        read_cover(factory.workspace.files, "cover.png")
    with pytest.raises(InvalidInput):
        await factory.perform(set_title_page, cover="cover.png")


async def test_a_cover_that_is_gone_is_set_in_type(factory: Factory, root: Path) -> None:
    await told(factory)
    (root / "cover.png").write_bytes(PNG)
    await factory.perform(set_title_page, cover="cover.png")
    (root / "cover.png").write_bytes(b"no longer")
    made = await factory.perform(export_book, formats=("epub",))
    assert any("set in type" in each for each in made.warnings)
    assert "EPUB/cover.svg" in parts(root, "epub")


@pytest.mark.parametrize("field", [{"date": "soon"}, {"language": "a b"}, {"cover": "../x.png"}])
async def test_what_cannot_stand_on_a_title_page_is_refused(
    factory: Factory, field: dict[str, str]
) -> None:
    with pytest.raises(Exception, match=r"is no|outside|project"):
        await factory.perform(set_title_page, **field)


async def test_a_chapter_title_is_kept_in_the_first_file_and_taken_back(
    factory: Factory, root: Path
) -> None:
    await written(factory)
    first = root / "content/Manuscript/Chapter_01/Scene_01.md"
    assert "chapter_title: The Rock\n" in first.read_text()
    body = factory.rooms.manuscript.text("ch1-sc1")
    assert await factory.perform(name_chapter, 1, "A: “colon”") == {1: "A: “colon”"}
    assert factory.rooms.manuscript.text("ch1-sc1") == body
    assert await factory.perform(name_chapter, 1, "") == {}


@pytest.mark.parametrize(
    ("words", "told_as"),
    [(0, "about 100"), (1_234, "about 1,200"), (79_600, "about 80,000")],
)
def test_a_word_count_is_rounded(words: int, told_as: str) -> None:
    assert rounded_count(words) == f"{told_as} words"


HOSTILE = (
    "<script>alert(1)</script> & <b>bold</b> ]]> &amp; &nbsp; \x0c \u202e "
    "[a link](javascript:x) ![p](../../x.png) <!-- --\n\n"
    "# A heading\n\n1. one\n2. two\n\n> a letter[^1]\n\n`code` \\\\ $x$ {=html}\n\n"
    "[^1]: A note with a list:\n\n    - one\n    - two\n"
)
BOOKS: dict[str, dict[str, str]] = {
    "plain": {"ch1-sc1": "One scene."},
    "notes": {f"ch{c}-sc{s}": NOTED for c in (1, 2) for s in (1, 2, 3)},
    "hostile": {"ch1-sc1": HOSTILE, "ch1-sc2": HOSTILE, "ch2-sc1": HOSTILE},
    "long": {f"ch{c}-sc1": "Nobody came. " * 200 for c in range(1, 61)},
    "strange": {
        "ch1-sc1": "Ångström, 东京, עברית, 🙂, e\u0301.",
        "ch7-sc4": "---\n\n* * *\n\nEnd.",
    },
}


@pytest.mark.req("WF-G84")
@pytest.mark.parametrize("name", BOOKS)
async def test_an_epub_is_built_as_its_standard_asks(
    factory: Factory, root: Path, name: str
) -> None:
    title = 'A <b>"book"</b> & more' if name == "hostile" else "The Keeper's Daughter"
    await factory.perform(describe_book, title=title)
    for scene, text in BOOKS[name].items():
        meta = SceneMeta(scene, 0, 0, status=SceneStatus.DRAFTED)
        await factory.rooms.manuscript.save(scene, text, meta, reason="written")
    if name in ("notes", "hostile"):
        await factory.perform(name_chapter, 1, "Prologue" if name == "notes" else "<i>&")
        await factory.perform(set_title_page, author='A & "B" <c>', language="en", date="2026-11")
    if name == "strange":
        (root / "cover.dat").write_bytes(PNG)
        await factory.perform(set_title_page, cover="cover.dat", cover_text="A lamp")
    await factory.perform(export_book, formats=("epub",))
    (book,) = factory.workspace.files.root.glob("content/Export/*.epub")
    assert epub_faults(book.read_bytes()) == []
    if folder := os.environ.get("CALLBOARD_TEST_KEEP_EPUB"):
        shutil.copy(book, Path(folder) / f"{name}.epub")


def test_a_book_that_is_built_wrong_is_seen(tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("EPUB/content.opf", PACKAGE)
        archive.writestr("EPUB/a.xhtml", PAGE)
        archive.writestr("EPUB/stray.css", "")
    faults = "\n".join(epub_faults(held.getvalue()))
    for told in (
        "nobody said the language",
        "stray.css is not in the manifest",
        "gone.xhtml is missing",
        "the id 'x' is there twice",
        "leads to #nowhere",
        "0 navigations",
    ):
        assert told in faults


CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="EPUB/content.opf"/></rootfiles></container>"""
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">a</dc:identifier>
<dc:title>A</dc:title></metadata><manifest>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/></spine></package>"""
PAGE = """<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A</title></head><body>
<p id="x">a</p><p id="x"><a href="#nowhere">b</a></p></body></html>"""

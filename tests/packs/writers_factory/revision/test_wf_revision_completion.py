"""Completion and export: the writer's word, real EPUB and DOCX, hostile text that stays text."""

import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from revision_book import SCENE, Book, open_book

from callboard.core.canonical import compact_json
from callboard.library.binding.prose_tree import blocks_of
from callboard.packs.writers_factory.exchange.export import (
    Edition,
    NothingToExport,
    export_manuscript,
    file_stem,
)
from callboard.packs.writers_factory.exchange.pages import markdown_of
from callboard.packs.writers_factory.exchange.title_page import TitlePage
from callboard.packs.writers_factory.manuscript import BookScene
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus
from callboard.packs.writers_factory.revision import WriterOnly
from callboard.packs.writers_factory.revision.completion import NotComplete

pytestmark = pytest.mark.anyio
DOCUMENT = "word/document.xml"
# Everything the page tree may be made of.
INLINE = ("Str", "Space", "SoftBreak", "LineBreak", "Emph", "Strong", "Strikeout")
BLOCKS = ("Para", "BlockQuote", "BulletList", "OrderedList", "Decimal", "Period", "Div", "Note")
ALLOWED = {*INLINE, *BLOCKS}


async def two_scenes(book: Book) -> None:
    await book.plan(
        PlannedScene(1, 1, "One"), PlannedScene(1, 2, "Two"), PlannedScene(2, 1, "Three")
    )
    await book.write("ch2-sc1", "Third, *slowly*.")
    await book.write("ch1-sc2", "Second.")
    await book.write("ch1-sc1", "First.\n\nStill first.")


def pages(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        assert book.testzip() is None
        names = [name for name in book.namelist() if name.startswith("EPUB/text/ch")]
        return "\n".join(book.read(name).decode() for name in sorted(names))


def words_of_docx(data: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        root = ElementTree.fromstring(book.read(DOCUMENT))  # noqa: S314 - made by the test itself
    return "\n".join(
        "".join(each.text or "" for each in paragraph.iter() if each.tag.endswith("}t"))
        for paragraph in root.iter()
        if paragraph.tag.endswith("}p")
    )


@pytest.mark.req("WF-G84")
async def test_the_manuscript_is_exported_in_outline_order_as_real_books(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await two_scenes(book)
        await book.revision.rooms.bible.describe(title="Fire & <Ice>")
        done = await book.run("finish", by="writer", author="A. Writer")
        files = {each["format"]: book.root / each["path"] for each in done["export"]["files"]}
        assert {each.parent for each in files.values()} == {book.root / "content/Export"}
        text = files["md"].read_text()
        order = ["# Fire & <Ice>", "## Chapter 1", "First.", "* * *", "Second.", "## Chapter 2"]
        places = [text.index(each) for each in order]
        assert places == sorted(places)
        epub = files["epub"].read_bytes()
        with zipfile.ZipFile(io.BytesIO(epub)) as made:
            assert made.read("mimetype") == b"application/epub+zip"
            opf = made.read("EPUB/content.opf").decode()
        assert "Fire &amp; &lt;Ice&gt;" in opf and "A. Writer" in opf
        shown = pages(epub)
        assert shown.index("First.") < shown.index("Second.") < shown.index("Third,")
        assert "<em>slowly</em>" in shown
        words = words_of_docx(files["docx"].read_bytes())
        assert "Fire & <Ice>" in words and "Third, slowly." in words
        assert words.index("First.") < words.index("Second.")


HOSTILE = """---
title: Stolen
header-includes: "<script>alert(1)</script>"
css: /etc/passwd
---

<script>steal()</script> <iframe src="file:///etc/passwd"></iframe>

![a picture](secret.txt) ![](/etc/passwd) [a link](file:///etc/hostname)

\\input{/etc/passwd} $\\write18{id}$ `code`{=html}

```{=html}
<img src="http://example.org/x.png">
```

```{.include}
secret.txt
```

[ref]: secret.txt "x"

{{< include secret.txt >}} :::{.class} <!-- comment -->

# Not a chapter
"""


@pytest.mark.req("WF-G84", "WF-G87")
async def test_hostile_text_reads_nothing_and_injects_nothing(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        (book.root / "secret.txt").write_text("TOP-SECRET-WORDS")
        (book.root / "content/secret.txt").write_text("TOP-SECRET-WORDS")
        scenes = [BookScene(SceneMeta("ch1-sc1", 1, 1), HOSTILE)]
        page = TitlePage("--lua-filter=evil.lua", "<b>x</b>\x00", contact=("x",), language="en")
        edition = Edition(page, tuple(scenes), {1: "<i>One</i>"})
        made = await export_manuscript(book.workspace, edition)
        assert made.warnings == ()
        for each in made.files:
            if each.format == "md":
                continue
            with zipfile.ZipFile(book.root / each.path) as archive:
                held = b"".join(archive.read(name) for name in archive.namelist())
                media = [name for name in archive.namelist() if "media" in name]
            assert b"TOP-SECRET-WORDS" not in held and b"root:" not in held
            assert (
                b"<script" not in held
                and b"<iframe" not in held
                and b"example.org/x" not in (re.sub(rb"&lt;.*?&gt;", b"", held))
            )
            assert media == []
        epub = next(book.root / f.path for f in made.files if f.format == "epub").read_bytes()
        shown = pages(epub)
        assert "&lt;script&gt;steal()&lt;/script&gt;" in shown and "a picture" in shown
        assert "<img" not in shown and "href=" not in re.sub(r"<link [^>]*>", "", shown)
        assert shown.count("<h1") == 1
        with zipfile.ZipFile(io.BytesIO(epub)) as archive:
            opf = archive.read("EPUB/content.opf").decode()
        assert "Stolen" not in opf and "&lt;b&gt;x&lt;/b&gt;" in opf


@pytest.mark.req("WF-G84")
@settings(max_examples=40)
@given(
    st.text(
        alphabet=st.sampled_from("*_~`#>-+![]()<>{}$\\|:&;= \n\ta1.\x00\ufffe\ud800"), max_size=80
    )
)
def test_no_text_becomes_anything_but_plain_blocks(text: str) -> None:
    kinds: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            kinds.add(value["t"])
            walk(value.get("c"))
        elif isinstance(value, list):
            for each in value:
                walk(each)

    blocks = blocks_of(text)
    walk(blocks)
    assert kinds <= ALLOWED
    compact_json(blocks).encode()


def test_many_spaces_are_one() -> None:
    (block,) = blocks_of("One" + " " * 30_000 + "two *three*  four")
    said = [each.get("c", " ") for each in block["c"][:4]]
    assert said == ["One", " ", "two", " "]
    assert len(block["c"]) == 7


def test_a_deeply_nested_text_is_still_a_text() -> None:
    blocks = compact_json(blocks_of(">" * 5_000 + " deep\n\n" + "*" * 5_000 + "x"))
    assert "deep" in blocks and '*x"' in blocks
    listed = "\n".join(" " * 2 * depth + "- item" for depth in range(200)) + "\n\nLast."
    assert compact_json(blocks_of(listed)).count("item") == 200


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("Low Water", "Low_Water"),
        ("../../etc/passwd", "etc_passwd"),
        ("Fire & <Ice>", "Fire_Ice"),
        ("夜", "夜"),
        ("...", "Manuscript"),
        ("x" * 300, "x" * 80),
    ],
)
def test_a_title_is_a_safe_file_name(title: str, stem: str) -> None:
    assert file_stem(title) == stem


async def test_an_export_that_would_leave_the_project_is_refused(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await two_scenes(book)
        outside = tmp_path / "outside"
        outside.mkdir()
        os.symlink(outside, book.root / "content/Export")
        run = await book.record("finish", by="writer")
        assert run.state == "failed"
        assert list(outside.iterdir()) == []
        assert not book.revision.completion().is_complete


@pytest.mark.req("WF-G84", "WF-22")
async def test_marking_complete_with_open_errors_warns_obeys_and_can_be_taken_back(
    tmp_path: Path,
) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        done = await book.run("finish", by="writer", formats=["md"], note="Enough.")
        assert done["is_complete"] and done["warnings"][0] == "2 things are still open"
        # The gates that were not met are named, and obeyed all the same.
        assert any(told.startswith("not met: protagonist") for told in done["warnings"])
        assert any("surgical precision" in each for each in done["open_errors"])
        assert any("ch1-sc2" in each for each in done["open_errors"])
        assert done["export"]["left_out"] == ["ch1-sc2"]
        assert [each["format"] for each in done["export"]["files"]] == ["md"]
        assert book.revision.completion().is_complete
        assert not (await book.revision.reopen(by="writer")).is_complete
        with pytest.raises(NotComplete):
            await book.revision.reopen(by="writer")


@pytest.mark.req("WF-G84")
async def test_a_text_nobody_accepted_is_among_what_is_open(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        await book.write("ch1-sc1", "Ann lit the lamp.")
        for status in (SceneStatus.SCAFFOLDED, SceneStatus.VARIANTS_READY, SceneStatus.SELECTED):
            await book.write("ch1-sc2", "Ann put it out.", status=status)
        done = await book.run("finish", by="writer", formats=["md"])
        assert done["open_errors"] == ["ch1-sc2 is written and not accepted"]
        assert done["export"]["left_out"] == []


@pytest.mark.req("WF-G84", "WF-G87")
async def test_only_the_writer_marks_complete_or_reopens(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await two_scenes(book)
        run = await book.record("finish", by="agent")
        assert run.state == "failed" and run.error.code == "writer_only"
        assert not book.revision.completion().is_complete
        with pytest.raises(WriterOnly):
            await book.revision.reopen(by="foreman")


async def test_nothing_written_is_nothing_to_export(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        with pytest.raises(NothingToExport):
            await export_manuscript(book.workspace, Edition.of(book.workspace))
        run = await book.record("finish", by="writer")
        assert run.state == "failed" and run.error.code == "nothing_to_export"


def test_the_markdown_holds_the_scenes_word_for_word() -> None:
    scenes = [BookScene(SceneMeta("ch1-sc1", 1, 1), HOSTILE)]
    assert HOSTILE.strip("\n") in markdown_of(TitlePage("Book"), scenes, {})

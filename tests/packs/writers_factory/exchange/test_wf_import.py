"""Manuscripts from outside: split, shown, taken in, taken back; hostile files are only files."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callboard.library.binding.prose_tree import blocks_of
from callboard.operations import lending
from callboard.packs.writers_factory.exchange.arrival import (
    PlacesTaken,
    arrival_in,
    preview_import,
    read_arrival,
)
from callboard.packs.writers_factory.exchange.markup import StyledWords, markdown_of_runs
from callboard.packs.writers_factory.exchange.operations import (
    Delivery,
    export_book,
    import_delivery,
    import_manuscript,
    undo_import,
)
from callboard.packs.writers_factory.exchange.pieces import ImportRefused
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.manuscript.operations import name_chapter
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus

pytestmark = pytest.mark.anyio
NAMESPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SCENES = {
    "ch1-sc1": "She *counted* the **steps**[^1], ***all*** of them."
    "\n\nOne * two _ three \\[^9]."
    "\n\n> A letter\n\n- oil\n- brass\n\n[^1]: Sixty-*one*.\n\n    Or two.",
    "ch1-sc2": "A line\\\nand another.\n\n1\\. No list. # no heading; 5 < 6 & 7.",
    "ch2-sc1": "“Nobody came,” she said. Un*believ*able.",
    "ch3-sc1": "After all.",
}
MARKDOWN = """# The Book

*A. Writer*

## Chapter 1: Dusk

First[^n].

* * *

Second.

## Chapter 2

Third[^n].

[^n]: A note.
"""


def docx(body: str, **more: str | bytes) -> bytes:
    """Return a word file of one body."""
    made = io.BytesIO()
    document = f"<w:document {NAMESPACE}><w:body>{body}</w:body></w:document>"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", document)
        for name, text in more.items():
            archive.writestr(name.replace("__", "/"), text)
    return made.getvalue()


def para(text: str, inside: str = "") -> str:
    return f"<w:p>{inside}<w:r><w:t>{text}</w:t></w:r></w:p>"


async def save(factory: Factory, scenes: dict[str, str]) -> None:
    for name, text in scenes.items():
        meta = SceneMeta(name, 0, 0, status=SceneStatus.DRAFTED)
        await factory.rooms.manuscript.save(name, text, meta, reason="written")


def texts(factory: Factory) -> dict[str, str]:
    return {each.meta.scene_id: each.text for each in factory.rooms.manuscript.texts()}


async def test_a_manuscript_that_was_exported_comes_back_as_the_same_text(
    factory: Factory, root: Path, tmp_path: Path
) -> None:
    await save(factory, SCENES)
    await factory.perform(name_chapter, 2, "The Rock")
    await factory.perform(name_chapter, 3, "Epilogue")
    made = await factory.perform(export_book)
    before = texts(factory)
    for file in made.files:
        if file.format == "epub":
            continue
        draft = read_arrival((root / file.path).read_bytes(), f"book.{file.format}").draft
        assert [each.title for each in draft.chapters] == ["", "The Rock", "Epilogue"]
        found = [scene.text for each in draft.chapters for scene in each.scenes]
        assert found == [each.strip() for each in before.values()], file.format


@pytest.mark.parametrize("name", ["book.md", "book.txt"])
async def test_a_text_is_split_and_nothing_is_written_before_it_is_wished(
    factory: Factory, root: Path, name: str
) -> None:
    arrival = read_arrival(MARKDOWN.encode(), name)
    seen = preview_import(factory.workspace, arrival)
    assert [each.scene_id for each in seen.scenes] == ["ch1-sc1", "ch1-sc2", "ch2-sc1"]
    assert seen.scenes[0].chapter_title == "Dusk"
    assert any("title page" in each and "A. Writer" in each for each in seen.problems)
    assert not (root / "content/Manuscript").exists()
    with lending(Delivery(factory.workspace, arrival)):
        made = await factory.perform(import_delivery, arrival.name, arrival.sha256)
    assert texts(factory) == {
        "ch1-sc1": "First[^1].\n\n[^1]: A note.",
        "ch1-sc2": "Second.",
        "ch2-sc1": "Third[^1].\n\n[^1]: A note.",
    }
    assert factory.rooms.manuscript.chapters.all() == {1: "Dusk"}
    assert factory.rooms.manuscript.scene("ch1-sc1").status is SceneStatus.DRAFTED
    undone = await factory.perform(undo_import, made.id)
    assert undone.is_undone and texts(factory) == {}


async def test_what_is_there_is_never_written_over_silently(factory: Factory, root: Path) -> None:
    await save(factory, {"ch1-sc1": "Mine."})
    (root / "book.md").write_text(MARKDOWN)
    with pytest.raises(PlacesTaken, match="ch1-sc1"):
        await factory.perform(import_manuscript, "book.md")
    assert texts(factory) == {"ch1-sc1": "Mine."} and (root / "book.md").exists()
    added = await factory.perform(import_manuscript, "book.md", append=True)
    assert list(texts(factory)) == ["ch1-sc1", "ch2-sc1", "ch2-sc2", "ch3-sc1"]
    # The source is not read as a scene of its own any more; undone, it lies where it was.
    assert not (root / "book.md").exists()
    await factory.perform(undo_import, added.id)
    assert texts(factory) == {"ch1-sc1": "Mine."} and (root / "book.md").exists()
    replaced = await factory.perform(import_manuscript, "book.md", replace=True)
    assert texts(factory)["ch1-sc1"].startswith("First")
    await save(factory, {"ch2-sc1": "Worked on."})
    undone = await factory.perform(undo_import, replaced.id)
    assert undone.problems == ("ch2-sc1 was changed since and stays",)
    assert texts(factory) == {"ch1-sc1": "Mine.", "ch2-sc1": "Worked on."}


async def test_a_word_file_is_split_by_styles_lines_or_pages(factory: Factory) -> None:
    page = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    by_pages = read_arrival(docx(para("One.") + page + para("Two.")), "a.docx").draft
    assert by_pages.split_by == "page breaks"
    assert [len(each.scenes) for each in by_pages.chapters] == [1, 1]
    lines = para("My Title") + para("CHAPTER ONE") + para("One.") + para("#") + para("More.")
    by_lines = read_arrival(docx(lines + para("Chapter 2: Low") + para("Two.")), "a.docx").draft
    assert [(each.title, len(each.scenes)) for each in by_lines.chapters] == [("", 2), ("Low", 1)]
    one = read_arrival(docx(para("One.") + para("Two.")), "a.docx").draft
    assert one.chapters[0].scenes[0].text == "One.\n\nTwo."


async def test_what_a_word_file_holds_beside_text_is_told(factory: Factory) -> None:
    body = (
        para("Kept.", "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>")
        + "<w:p><w:ins><w:r><w:t>Added.</w:t></w:r></w:ins><w:r><w:drawing/></w:r></w:p>"
        + "<w:tbl><w:tr><w:tc>"
        + para("In a cell.")
        + "</w:tc></w:tr></w:tbl>"
        + '<w:p><w:hyperlink w:anchor="x"><w:r><w:t>A link.</w:t></w:r></w:hyperlink></w:p>'
    )
    draft = read_arrival(docx(body, word__vbaProject__bin=b"macro"), "a.docx").draft
    text = draft.chapters[0].scenes[0].text
    assert text == "Kept.\n\nAdded.\n\nIn a cell.\n\nA link."
    told = " ".join(draft.problems)
    assert "picture" in told and "table" in told and "deletion" in told


def bomb() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 90_000_000)
    return made.getvalue()


def entity() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(
            "word/document.xml",
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
            f"<w:document {NAMESPACE}><w:body>{para('&e;')}</w:body></w:document>",
        )
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (bomb(), "a.docx", "grows to more than"),
        (entity(), "a.docx", "document type"),
        (entity()[:100], "a.docx", "no DOCX"),
        (docx("<w:a>" * 5_000), "a.docx", "nested too deep"),
        (docx("<w:p>"), "a.docx", "no XML"),
        (b"PK\x03\x04 nothing", "a.txt", "no DOCX"),
        (docx(""), "a.docx", "holds no text"),
        (b"\xff\xfe\xfd\x00\xd8", "a.txt", "not UTF-8"),
        (b"\x80abc", "a.md", "not UTF-8"),
        (b"%PDF-1.4", "a.pdf", "no manuscript"),
        (b"x" * 20_000_001, "a.txt", "bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "data",
)
def test_a_file_that_means_harm_or_nothing_is_refused(data: bytes, name: str, why: str) -> None:
    with pytest.raises(ImportRefused, match=why):
        read_arrival(data, name)


async def test_only_files_of_the_project_are_read_by_path(factory: Factory, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Chapter 1\n\nSecret.")
    with pytest.raises(Exception, match=r"outside|project"):
        arrival_in(factory.workspace, "../secret.md")
    await save(factory, {"ch1-sc1": "Mine."})
    with pytest.raises(ImportRefused):
        arrival_in(factory.workspace, "content/Manuscript/Chapter_01/Scene_01.md")


async def test_scenes_of_control_room_become_scenes_of_the_factory(
    factory: Factory, root: Path
) -> None:
    folder = root / "Story/Scenes"
    folder.mkdir(parents=True)
    (root / "Story/outline.md").write_text("# B\n\n### Scene 1: Dusk\n\n### Scene 2: Dawn\n")
    (folder / "SCN-dawn.md").write_text("---\nwhen: 1204-01-11\npov: Mira\n---\n# Dawn\n\nLight.\n")
    (folder / "SCN-dusk.md").write_text("---\nwhen: 1204-01-10\n---\n# Dusk\n\nDark.\n")
    made = await factory.perform(import_manuscript, "Story/Scenes")
    scenes = factory.rooms.manuscript.scenes()
    assert [(each.title, each.story_time, each.pov) for each in scenes] == [
        ("Dusk", "1204-01-10", ""),
        ("Dawn", "1204-01-11", "Mira"),
    ]
    assert texts(factory) == {"ch1-sc1": "Dark.", "ch1-sc2": "Light."}
    assert not list(folder.iterdir())
    await factory.perform(undo_import, made.id)
    assert len(list(folder.iterdir())) == 2 and texts(factory) == {}


@settings(max_examples=200)
@example([("a backslash \\ \nends a line", False, False)])
@given(
    st.lists(
        st.tuples(
            st.text(st.sampled_from("ab *_#>-+1.)[]^&;<`\\~=!(:\n"), max_size=12),
            st.booleans(),
            st.booleans(),
        ),
        max_size=4,
    )
)
def test_any_words_of_a_word_file_read_back_as_those_words(
    runs: list[tuple[str, bool, bool]],
) -> None:
    text, _ = markdown_of_runs([StyledWords(*each) for each in runs])
    said: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if value["t"] == "Str":
                said.append(value["c"])
            elif value["t"] != "Div":
                assert value["t"] in ("Para", "Emph", "Strong", "LineBreak", "Space"), value
                said.append(" " if value["t"] in ("LineBreak", "Space") else "")
            walk(value.get("c"))
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(blocks_of(text))
    assert "".join(said).split() == "".join(each[0] for each in runs).split()

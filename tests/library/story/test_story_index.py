"""The story index: kinds, metadata, order, entities, and that nothing is parsed twice."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.library.story.index import Entities, StoryEntity, StoryIndex
from callboard.library.story.index import files as files_module
from callboard.library.story.index.metadata import number_in_filename, numbered_title, read_number
from callboard.library.story.model import FileKind
from callboard.library.story.text import Document
from callboard.tools import FileMissing, Kept, PathOutsideProject, ProjectFiles, Unreadable

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(path: str, text: str) -> None:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    return put


def index_of(root: Path, kept: Kept | None = None) -> StoryIndex:
    return StoryIndex.from_files(ProjectFiles(root), kept)


@pytest.mark.req("CR-37")
@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("Story/SCN-outline.md", "", FileKind.OUTLINE),
        ("Scenes/the-outline.md", "", FileKind.OUTLINE),
        ("Story/Scenes/one.md", "", FileKind.SCENE),
        ("SCN-03-x.md", "", FileKind.SCENE),
        ("drafts/a.md", "# Chapter 3\n", FileKind.SCENE),
        ("drafts/b.md", "# Scene 4: Ashes\n", FileKind.SCENE),
        ("drafts/c.md", "# Ashes\n", FileKind.OTHER),
        ("Compendium/x.md", "", FileKind.CANON),
        ("worldbuilding/x.md", "", FileKind.CANON),
        ("chars/x.md", "", FileKind.CANON),
        ("LOC-mill.md", "", FileKind.CANON),
        ("Canon.md", "", FileKind.CANON),
        ("Notes/x.md", "", FileKind.OTHER),
        ("Notes/y.md", "---\ntype: scene\n---\n", FileKind.SCENE),
        ("Story/Scenes/z.md", "---\ntype: canon\n---\n", FileKind.CANON),
        ("Notes/w.md", "---\ntype: something\n---\n", FileKind.OTHER),
    ],
)
def test_a_file_is_what_its_first_sign_says(
    tmp_path: Path, write: Write, path: str, text: str, kind: FileKind
) -> None:
    write(path, text)
    assert index_of(tmp_path).kind_of(path) is kind


@pytest.mark.req("CR-34", "CR-35")
def test_only_texts_outside_hidden_folders_are_indexed(tmp_path: Path, write: Write) -> None:
    for path in ("a.md", "b.markdown", "c.txt", "d.docx", ".hidden/e.md", ".callboard/f.md"):
        write(path, "Text.")
    assert [file.path for file in index_of(tmp_path).files] == ["a.md", "b.markdown", "c.txt"]


@pytest.mark.req("CR-35")
def test_what_cannot_be_read_is_left_out_and_told(tmp_path: Path, write: Write) -> None:
    write("good.md", "Text.")
    write("huge.md", "word " * 1_000_000)
    (tmp_path / "image.md").write_bytes(b"\x89PNG\x00\x01\x02\xff")
    write("front.md", "---\ntitle: [x\n---\nText.")
    outside = tmp_path.parent / "outside.md"
    outside.write_text("Secret.")
    (tmp_path / "link.md").symlink_to(outside)
    index = index_of(tmp_path)
    assert [file.path for file in index.files] == ["front.md", "good.md"]
    told = "\n".join(index.warnings)
    for name in ("huge.md: larger", "image.md: not a text", "link.md: a link", "front.md: front"):
        assert name in told
    with pytest.raises(Unreadable):
        index.document("huge.md")
    with pytest.raises((Unreadable, PathOutsideProject)):
        index.document("link.md")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_a_text_is_read_in_the_encoding_it_was_saved_in(tmp_path: Path, encoding: str) -> None:
    text = "# Chapter 1\n\nZoë Müller crossed the café. Nobody saw Zoë go.\n"
    (tmp_path / "scene.md").write_bytes(text.encode(encoding))
    index = index_of(tmp_path)
    assert index.document("scene.md").text == text
    assert [scene.path for scene in index.scenes] == ["scene.md"]
    assert index.warnings == ()


BOOK = "".join(
    f"{mark}\n\n" + f"Kael walked to the gate in the rain for the {number}th time. " * 12 + "\n\n"
    for number, mark in ((4, "# Chapter One"), (5, "# Chapter Two: Ash"), (6, "# Chapter Three"))
)


@pytest.mark.parametrize(
    "text",
    [
        f"# The Gate\n\n{BOOK}",
        BOOK.replace("# ", "## "),
        BOOK.replace("# Chapter One", "CHAPTER I")
        .replace("# Chapter Two: Ash", "CHAPTER II")
        .replace("# Chapter Three", "CHAPTER III"),
        "CONTENTS\n\nChapter I\n\nChapter II\n\nChapter III\n\n"
        + BOOK.replace("# Chapter", "Chapter"),
    ],
)
def test_a_book_in_one_file_is_its_chapters(tmp_path: Path, write: Write, text: str) -> None:
    write("novel.txt", text)
    index = index_of(tmp_path)
    assert [scene.path for scene in index.scenes] == [f"novel.txt#{n}" for n in (1, 2, 3)]
    assert [scene.scene_number for scene in index.scenes] == [1, 2, 3]
    assert index.kind_of("novel.txt") is FileKind.OTHER
    lines = text.split("\n")
    for scene in index.scenes:
        document = index.document(scene.path)
        quote = document.quote(document.sentences[-1])
        assert quote.path == "novel.txt"
        assert quote.text in lines[quote.line_start - 1]
    assert [file.path for file in index.chapters_of("novel.txt")] == [
        scene.path for scene in index.scenes
    ]


def test_a_folder_that_marks_no_scenes_is_read_all_the_same(tmp_path: Path, write: Write) -> None:
    write("01 arrival.md", "Kael walked to the gate in the rain. " * 40)
    write("02 ash.md", "Kael walked to the gate in the rain. " * 40)
    write("notes.md", "Kael walked to the gate in the rain. " * 40)
    write("README.md", "Kael walked to the gate in the rain. " * 40)
    assert [scene.path for scene in index_of(tmp_path).scenes] == ["01 arrival.md", "02 ash.md"]


@pytest.mark.req("CR-41")
@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (
            "Mr. Darcy bowed to Colonel Fitzwilliam. Fitzwilliam Darcy said"
            " nothing, and Darcy left."
            " Colonel Fitzwilliam laughed at Mr. Darcy.",
            [{"Mr. Darcy", "Fitzwilliam Darcy", "Darcy"}, {"Colonel Fitzwilliam"}],
        ),
        (
            "Dr. Helen Marsh came with Judith Marsh. Then Helen left, and Judith stayed, and Dr."
            " Marsh was angry. So said Helen Marsh and Judith Marsh.",
            [{"Helen Marsh", "Helen", "Dr. Marsh"}, {"Judith Marsh", "Judith"}],
        ),
        (
            "Here Mr. Bennet spoke to Mrs. Bennet of Elizabeth Bennet. Then"
            " Lizzy came, and Mr. Bennet"
            " and Mrs. Bennet and Elizabeth and Elizabeth Bennet dined with Lizzy.",
            [{"Elizabeth Bennet", "Elizabeth", "Lizzy"}, {"Mr. Bennet"}, {"Mrs. Bennet"}],
        ),
    ],
)
def test_a_person_is_one_by_all_names_and_relatives_are_two(
    tmp_path: Path, write: Write, text: str, groups: list[set[str]]
) -> None:
    write("scenes/one.md", f"{text}\n\n{text}")
    entities = index_of(tmp_path).entities
    found = [{name for name in group if entities.get(name)} for group in groups]
    assert found == groups
    owners = [{entities.canonical(name) for name in group} for group in groups]
    assert all(len(owner) == 1 for owner in owners)
    assert len({name for owner in owners for name in owner}) == len(groups)


@pytest.mark.req("CR-36", "CR-48")
def test_paths_that_lead_out_or_nowhere_are_refused(tmp_path: Path, write: Write) -> None:
    write("Story/Scenes/SCN-01-gate.md", "Text.")
    write("image.png", "x")
    index = index_of(tmp_path)
    for path in ("../x.md", "/etc/passwd", "Story/../../x.md"):
        with pytest.raises(PathOutsideProject):
            index.document(path)
    with pytest.raises(FileMissing) as missing:
        index.file("Story/Scenes/SCN-01-gates.md")
    assert missing.value.context["near"] == ["Story/Scenes/SCN-01-gate.md"]
    with pytest.raises(FileMissing):
        index.document("image.png")
    assert index.document("Story/./Scenes/SCN-01-gate.md").path == "Story/Scenes/SCN-01-gate.md"


@pytest.mark.req("CR-38")
def test_metadata_comes_from_front_matter_then_heading_then_fields(
    tmp_path: Path, write: Write
) -> None:
    write(
        "Scenes/a.md",
        "---\ntitle: Front\nscene: 9\npov: '[[Kael]]'\nwhen: 1204-01-10\ncharacters: Kael, Mira\n"
        "flashback: true\ntarget_words: 1,500\nstakes: All of it.\n---\n# Heading\n"
        "Location: Mill\n",
    )
    write(
        "Scenes/SCN-03-ashes.md", "# Ashes\n\n**POV:** Mira\n- Characters: Mira and Kael\n\nText."
    )
    write("Scenes/plain.md", "# Scene 12: Plain\n\nText.")
    index = index_of(tmp_path)
    a = index.file("Scenes/a.md")
    assert (a.title, a.scene_number, a.pov, a.location) == ("Front", 9, "Kael", "Mill")
    assert (a.when, a.characters, a.is_flashback) == ("1204-01-10", ("Kael", "Mira"), True)
    assert (a.target_words, a.stakes) == (1500, "All of it.")
    b = index.file("Scenes/SCN-03-ashes.md")
    assert (b.title, b.scene_number, b.pov) == ("Ashes", 3, "Mira")
    assert b.characters == ("Mira", "Kael")
    assert index.file("Scenes/plain.md").scene_number == 12


@pytest.mark.req("CR-38", "CR-39")
def test_a_scene_without_a_number_takes_that_of_its_outline_entry(
    tmp_path: Path, write: Write
) -> None:
    write("outline.md", "# Book\n\n### Scene 1: The Gate\n\n### Scene 2: The Long Night\n")
    write("Scenes/the-long-night.md", "# The Long Night\n\nText.")
    write("Scenes/the-gate.md", "# The Gate\n\nText.")
    index = index_of(tmp_path)
    assert [(file.title, file.scene_number) for file in index.scenes] == [
        ("The Gate", 1),
        ("The Long Night", 2),
    ]


@pytest.mark.req("CR-39")
def test_story_order_is_the_outlines_then_number_then_path(tmp_path: Path, write: Write) -> None:
    write("outline.md", "# Book\n\n### Scene 2: Dawn\n\n### Scene 1: Dusk\n")
    for name in ("SCN-01-dusk", "SCN-02-dawn", "SCN-10-ten", "SCN-09-nine", "zed", "alpha"):
        write(f"Scenes/{name}.md", f"# {name}\n\nText.")
    found = [file.path.removeprefix("Scenes/") for file in index_of(tmp_path).scenes]
    assert found == [
        "SCN-02-dawn.md",
        "SCN-01-dusk.md",
        "SCN-09-nine.md",
        "SCN-10-ten.md",
        "alpha.md",
        "zed.md",
    ]


@pytest.mark.req("CR-35")
def test_nothing_unchanged_is_parsed_again(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    class Watched(Document):
        def __init__(self, path: str, text: str) -> None:
            parsed.append(path)
            super().__init__(path, text)

    monkeypatch.setattr(files_module, "Document", Watched)
    for name in ("a.md", "b.md", "c.md"):
        write(name, "Kael ran.")
    kept = Kept()
    first = index_of(tmp_path, kept)
    assert sorted(parsed) == ["a.md", "b.md", "c.md"]
    assert index_of(tmp_path, kept) is first
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert index_of(tmp_path, kept) is first, "a new time and the same content"
    write("b.md", "Mira ran.")
    second = index_of(tmp_path, kept)
    assert parsed[3:] == ["b.md"]
    assert second.document("b.md").sentences[0].text == "Mira ran."
    assert second.document("a.md") is first.document("a.md")
    (tmp_path / "c.md").unlink()
    assert [file.path for file in index_of(tmp_path, kept).files] == ["a.md", "b.md"]
    assert parsed[3:] == ["b.md"]


@pytest.mark.req("CR-41")
def test_names_are_cards_aliases_and_what_scenes_repeat(tmp_path: Path, write: Write) -> None:
    write(
        "Compendium/Characters/CHAR-kael.md", "---\ntitle: Kael Arden\naliases: [the Miller]\n---\n"
    )
    write("Compendium/Items/ITEM-brass-key.md", "# Brass Key\n")
    write(
        "Scenes/SCN-01.md",
        "Suddenly Kael ran. Suddenly the brass key fell, and Captain Orla Venn saw it. “Why?” asked"
        " Orla Venn. On Monday in March I met Mr. Tomas Brack. I’m sure Kael’s friend Brack knew."
        "\n\n"
        "However, nobody came. However it was, Orla waited at Holm Bridge, and from Holm Bridge the"
        " Miller came. GO AWAY, it said. GO AWAY.",
    )
    entities = index_of(tmp_path).entities
    names = {entity.name: entity for entity in entities}
    assert set(names) == {"Kael Arden", "Brass Key", "Orla Venn", "Tomas Brack", "Holm Bridge"}
    assert entities.canonical("Kael") == "Kael Arden"
    assert entities.canonical("the miller") == "Kael Arden"
    assert entities.canonical("Brack") == "Tomas Brack"
    assert entities.canonical("Nobody") == "Nobody"
    assert names["Orla Venn"].kind == "character"
    assert names["Holm Bridge"].kind == "location"
    assert names["Brass Key"].card == "Compendium/Items/ITEM-brass-key.md"


@pytest.mark.req("CR-41")
def test_an_entity_is_found_by_every_name_and_the_longest_wins() -> None:
    kael = StoryEntity("Kael Arden", "character", ("Kael Arden", "Kael"), "c.md")
    mill = StoryEntity("Kael Mill", "location", ("Kael Mill",), "m.md")
    key = StoryEntity("Brass Key", "item", ("Brass Key",), "k.md")
    text = "Kael Arden's hand, Kael’s brass key, Kael Mill, Kaelin, kael."
    hits = Entities([kael, mill, key]).find(text)
    assert [(hit.entity.name, hit.surface) for hit in hits] == [
        ("Kael Arden", "Kael Arden"),
        ("Kael Arden", "Kael"),
        ("Brass Key", "brass key"),
        ("Kael Mill", "Kael Mill"),
    ]
    assert all(text[hit.start : hit.end] == hit.surface for hit in hits)
    assert Entities([]).find(text) == ()


@given(st.text(max_size=80), st.lists(st.text("Kaelm O'’-.", min_size=1, max_size=8), max_size=6))
def test_finding_never_fails_and_never_overlaps(text: str, names: list[str]) -> None:
    entities = Entities([StoryEntity(name, "character", (name,)) for name in names])
    end = 0
    for hit in entities.find(f"{text} {' '.join(names)}"):
        assert hit.start >= end
        end = hit.end


def test_an_empty_project_has_an_empty_index(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    assert (index.files, index.scenes, index.outline, index.canon) == ((), (), None, ())
    assert len(index.entities) == 0
    assert index.warnings == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("III", 3),
        ("xiv", 14),
        ("three", 3),
        ("twenty-one", 21),
        ("mix", None),
        ("", None),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, number: int | None) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Scene 3: Ashes", (3, "Ashes", "scene")),
        ("Chapter Twelve", (12, "", "chapter")),
        ("III: The Problem", (3, "The Problem", "")),
        ("Szene 4 – Asche", (4, "Asche", "scene")),
        ("I was there", (None, "I was there", "")),
        ("Scenes of war", (None, "Scenes of war", "")),
        ("Civil war", (None, "Civil war", "")),
    ],
)
def test_headings_give_number_and_title(heading: str, expected: tuple[object, ...]) -> None:
    assert numbered_title(heading) == expected


@pytest.mark.parametrize(
    ("stem", "number"),
    [("SCN-09-chapter-9", 9), ("03_ashes", 3), ("ch02-sc03", None), ("the-gate", None)],
)
def test_file_names_give_numbers(stem: str, number: int | None) -> None:
    assert number_in_filename(stem) == number

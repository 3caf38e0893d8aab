"""Template files: the writer's own, edited anywhere, sometimes into nonsense, never lost."""

from pathlib import Path
from typing import Any

import pytest
from bible_samples import BEATS, PROTAGONIST, RULES, THEME
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.bible import Bible, TemplateUnreadable
from callboard.packs.writers_factory.bible.files.documents import (
    Document,
    read_document,
    write_document,
)
from callboard.packs.writers_factory.bible.shapes import SHAPES, character_path, shaped
from callboard.packs.writers_factory.bible.values import clean_text
from callboard.packs.writers_factory.model import TemplateName, TemplateStatus
from callboard.packs.writers_factory.workspace import Workspace
from callboard.testing import Passages
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

THEME_FILE = "content/Story Bible/Theme.md"


@pytest.mark.req("WF-G17", "WF-36")
async def test_templates_lie_where_a_writer_looks_for_them(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        paths = [
            (await bible.write("protagonist", PROTAGONIST, source="writer_stated")).path,
            (await bible.write("beat_sheet", {"beat_1": BEATS[0]}, source="brainstorm")).path,
            (await bible.write("theme", THEME, source="brainstorm")).path,
            (await bible.write("world_rules", {"rules": RULES}, source="brainstorm")).path,
        ]
    assert paths == [
        "content/Characters/Maren_Holt.md",
        "content/Story Bible/Beat_Sheet.md",
        THEME_FILE,
        "content/World Bible/Rules.md",
    ]
    page = (root / paths[0]).read_text()
    assert page.startswith("---\ntemplate: protagonist\nname: Maren Holt\nfatal_flaw: ")
    assert "## The lie\n\nIf she asks anyone for help" in page


@pytest.mark.req("WF-G17")
async def test_an_edit_in_any_editor_is_seen_at_the_next_look(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        await bible.write("theme", THEME, source="brainstorm")
        assert bible.template("theme").status is TemplateStatus.COMPLETE
        file = root / THEME_FILE
        file.write_text(file.read_text().replace(THEME["theme_statement"], "It's about help"))
        edited = bible.template("theme")
        assert edited.status is TemplateStatus.DRAFT_READY
        assert edited.fields["theme_statement"] == "It's about help"
        assert edited.sources == {"central_theme": "brainstorm", "theme_statement": "writer_edited"}
        file.unlink()
        assert bible.template("theme").status is TemplateStatus.NOT_STARTED


@pytest.mark.req("WF-34")
async def test_every_field_says_where_it_came_from(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        await bible.write("theme", {"central_theme": "Pride"}, source="notebook:voices")
        await bible.write("theme", {"theme_statement": "a"}, source="user_stated")
        sources = bible.template("theme").sources
    assert sources == {"central_theme": "notebook:voices", "theme_statement": "writer_stated"}
    assert "sources:\n  central_theme: notebook:voices\n" in (root / THEME_FILE).read_text()


async def test_writing_the_same_again_touches_nothing(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        first = await bible.write("theme", THEME, source="brainstorm")
        before = (root / THEME_FILE).stat().st_mtime_ns
        again = await bible.write("theme", THEME, source="brainstorm")
        assert (first.changed, again.changed) == (True, False)
        assert (root / THEME_FILE).stat().st_mtime_ns == before
        assert bible.versions("theme") == ()


@pytest.mark.req("WF-G17")
async def test_the_writers_own_text_and_keys_survive_a_write(open_bible: Any, root: Path) -> None:
    file = root / THEME_FILE
    async with open_bible() as bible:
        await bible.write("theme", THEME, source="brainstorm")
        page = file.read_text().replace("template: theme\n", "template: theme\nmood: {sea: grey}\n")
        file.write_text(page.replace("# Theme", "# My theme, by hand") + "\nA note of my own.\n")
        outcome = await bible.write("theme", {"central_theme": "Debt"}, source="writer_stated")
    text = file.read_text()
    assert "A note of my own." in text
    assert "# My theme, by hand" in text
    assert "mood:\n  sea: grey\n" in text
    assert text.count("## Central theme\n\nDebt") == 1
    assert outcome.version is not None
    assert (root / outcome.version).read_text().endswith("A note of my own.\n")


@pytest.mark.parametrize(
    ("nonsense", "line", "told"),
    [
        (b"---\ncentral_theme: [a\nb: c\n---\n", 3, "not valid YAML"),
        (b"---\ncentral_theme: a\n\nNo end in sight.\n", 1, "never closes"),
        (b"---\njust some words\n---\n", 2, "no `key: value` lines"),
        (b"---\na: 1\na: 2\n---\n", 3, "says a twice, first in line 2"),
        (b"---\na: &x [1]\nb: *x\n---\n", 3, "alias"),
        (b"---\n" + b"[" * 5000 + b"\n---\n", 2, "nests more than"),
        (b"\x89PNG\r\n\x00\x01", 2, "zero bytes"),
        (b"---\ncentral_theme: caf\xe9\n---\n", 2, "not UTF-8"),
        (b"# " + b"x" * 1_000_001, None, "larger than 1000000 bytes"),
        (b"x" * 5_000_001, None, "larger than"),
        (b"---\ncentral_theme: \x01\n---\n", 2, "not valid YAML"),
    ],
)
async def test_nonsense_is_named_counts_for_nothing_and_is_not_written_over(
    open_bible: Any, root: Path, nonsense: bytes, line: int | None, told: str
) -> None:
    file = root / THEME_FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(nonsense)
    async with open_bible() as bible:
        template = bible.template("theme")
        (problem,) = template.problems
        assert (problem.path, problem.line) == (THEME_FILE, line)
        assert told in problem.message
        assert template.status is TemplateStatus.NOT_STARTED
        assert template.share == 0
        assert any(THEME_FILE in unmet for unmet in template.unmet)
        with pytest.raises(TemplateUnreadable, match="Nothing was written"):
            await bible.write("theme", THEME, source="brainstorm")
        assert file.read_bytes() == nonsense
        if len(nonsense) < 5_000_000:
            outcome = await bible.write("theme", THEME, source="brainstorm", replace=True)
            assert (root / str(outcome.version)).read_bytes() == nonsense
            assert outcome.template.status is TemplateStatus.COMPLETE
            assert bible.versions("theme")[0]["version"] == outcome.version


async def test_a_file_broken_while_it_is_about_to_be_written_is_not_written_over(
    root: Path,
) -> None:
    file = root / THEME_FILE

    class Editor(Passages):
        is_typing = False

        def reach(self, point: str) -> None:
            if self.is_typing and point == "store.after_commit":
                file.write_text("---\nbroken: [\n---\n")

    editor = Editor()
    async with open_scripted(root, faults=editor) as studio:
        bible = Bible(Workspace(studio))
        await bible.write("theme", THEME, source="brainstorm")
        editor.is_typing = True
        with pytest.raises(TemplateUnreadable, match="Nothing was written"):
            await bible.write("theme", {"central_theme": "Debt"}, source="writer_stated")
        editor.is_typing = False
    assert file.read_text() == "---\nbroken: [\n---\n"


async def test_a_field_of_the_wrong_type_costs_only_itself(open_bible: Any, root: Path) -> None:
    file = root / THEME_FILE
    file.parent.mkdir(parents=True)
    file.write_text("---\ncentral_theme: Pride\ntheme_statement:\n  one: two\n---\n")
    async with open_bible() as bible:
        template = bible.template("theme")
        assert template.completed_fields == ("central_theme",)
        assert str(template.problems[0]) == (
            f"{THEME_FILE}, line 3: theme_statement is a mapping where a text is expected"
        )
        with pytest.raises(TemplateUnreadable):
            await bible.write("theme", {"central_theme": "Debt"}, source="writer_stated")
        mended = await bible.write("theme", THEME, source="writer_stated")
        assert mended.template.status is TemplateStatus.COMPLETE


async def test_a_source_as_long_as_a_chapter_does_not_break_the_reading(
    open_bible: Any, root: Path
) -> None:
    file = root / THEME_FILE
    file.parent.mkdir(parents=True)
    file.write_text(f"---\ncentral_theme: Pride\nsources:\n  central_theme: {'x' * 30_000}\n---\n")
    async with open_bible() as bible:
        assert bible.work_order().template(TemplateName.THEME).fields == {"central_theme": "Pride"}
        assert len(bible.template("theme").sources["central_theme"]) == 200


async def test_beats_in_a_list_of_the_writers_own_are_not_told_twice(
    open_bible: Any, root: Path
) -> None:
    file = root / "content/Story Bible/Beat_Sheet.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\nbeats:\n  Opening Image: {BEATS[0]}\n  epilogue: The sea.\n---\n")
    async with open_bible() as bible:
        for number in (2, 3):
            await bible.write(
                "beat_sheet", {f"beat_{number}": BEATS[number - 1]}, source="brainstorm"
            )
        sheet = bible.template("beat_sheet")
    assert sheet.problems == ()
    assert sheet.completed_fields == ("beat_1", "beat_2", "beat_3")
    assert file.read_text().count("epilogue: The sea.\n") == 1


async def test_a_file_that_leads_out_of_the_project_is_not_read(
    open_bible: Any, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("---\ncentral_theme: Secret\n---\n")
    (root / "content/Story Bible").mkdir(parents=True)
    (root / THEME_FILE).symlink_to(outside)
    async with open_bible() as bible:
        template = bible.template("theme")
        assert template.problems
        assert "central_theme" not in template.fields


async def test_words_that_yaml_takes_for_something_else_stay_words(
    open_bible: Any, root: Path
) -> None:
    file = root / "content/World Bible/Rules.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nfundamental_rules:\n  - no\n  - 2024-10-01\n  - 010\n---\n")
    async with open_bible() as bible:
        assert bible.rules == ("no", "2024-10-01", "010")


async def test_a_new_name_moves_the_file_with_everything_in_it(open_bible: Any, root: Path) -> None:
    async with open_bible() as bible:
        await bible.write("protagonist", PROTAGONIST, source="writer_stated")
        old = root / "content/Characters/Maren_Holt.md"
        old.write_text(old.read_text() + "\nHer hands.\n")
        facts = await bible.describe(protagonist_name="Ada: Holt/Rock")
        template = bible.template("protagonist")
        order = bible.work_order()
    assert facts.protagonist_name == order.protagonist_name == "Ada: Holt/Rock"
    assert template.file_path == "content/Characters/Ada_Holt_Rock.md"
    assert not old.exists()
    assert "Her hands." in (root / template.file_path).read_text()
    assert template.status is TemplateStatus.COMPLETE


async def test_a_file_the_writer_renamed_is_found_by_what_it_says(
    open_bible: Any, root: Path
) -> None:
    async with open_bible() as bible:
        await bible.write("protagonist", PROTAGONIST, source="writer_stated")
        old = root / "content/Characters/Maren_Holt.md"
        old.rename(old.with_name("The Keeper.md"))
        assert bible.template("protagonist").file_path == "content/Characters/The Keeper.md"


async def test_two_writers_at_once_lose_nothing(open_bible: Any) -> None:
    import asyncio

    async with open_bible() as bible:
        async with asyncio.TaskGroup() as group:
            for number, text in enumerate(BEATS, start=1):
                given_beat = {f"beat_{number}": text}
                group.create_task(bible.write("beat_sheet", given_beat, source="brainstorm"))
        assert [beat.content for beat in bible.beats()] == BEATS


@given(name=st.text(max_size=100))
def test_no_name_leads_out_of_the_characters_folder(name: str) -> None:
    path = character_path(name)
    assert path.startswith("content/Characters/")
    assert path.count("/") == 2
    assert path.endswith(".md")
    assert "/.." not in path


@given(
    st.sampled_from(list(TemplateName)),
    st.lists(st.text(max_size=80), min_size=5, max_size=5),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=40),
)
def test_what_is_written_is_read_back(name: TemplateName, told: list[str], own: str) -> None:
    keys = SHAPES[name].required
    values = {
        key: shaped(name, key, told if key in SHAPES[name].lists else text)
        for key, text in zip(keys, told, strict=False)
    }
    fields = {key: value for key, value in values.items() if value}
    written = write_document(Document(name, "x.md", fields=fields, own_text=own.strip("\n")))
    back = read_document(name, "x.md", written.encode())
    assert back.problems == ()
    assert dict(back.fields) == fields
    assert back.own_text == own.strip("\n")
    assert write_document(back) == written


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    for head in (b"", b"---\n"):
        document = read_document(TemplateName.THEME, "x.md", head + data)
        assert all(each.field for each in document.problems) or document.fields == {}


@given(st.text(max_size=200))
def test_cleaned_text_can_always_be_stored(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert clean_text(cleaned) == cleaned

"""The manuscript: outline, scene files edited by anybody, versions, progress, positions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.manuscript import (
    Manuscript,
    NothingToUndo,
    OutlineInvalid,
    SceneUnknown,
    StatusRefused,
    VersionUnknown,
    advance,
    meta_from_json,
    meta_to_json,
    outline_faults,
    outline_from_json,
    outline_to_json,
    read_sheet,
    uncovered_beats,
    write_sheet,
)
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus, SymbolUse
from callboard.packs.writers_factory.workspace import Workspace

pytestmark = pytest.mark.anyio

PLAN = (
    PlannedScene(1, 1, "The Pier", 1, "Mara counts the boats.", 1000),
    PlannedScene(1, 2, "The Ledger", 2, "A page is missing.", 1000),
    PlannedScene(2, 1, "The Vote", 9, "She wins, and should not have.", 2000),
)
TEXT = "Mara counted the boats.\n\nThere was one too many."


def meta(chapter: int = 1, scene: int = 1, **more: Any) -> SceneMeta:
    base = SceneMeta(f"ch{chapter}-sc{scene}", chapter, scene, title="The Pier")
    return replace(base, status=SceneStatus.DRAFTED, **more)


@pytest.mark.req("WF-G11")
async def test_an_approved_outline_is_kept_in_story_order(
    book: Manuscript, workspace: Workspace
) -> None:
    await book.set_outline(reversed(PLAN))
    again = Manuscript(workspace)
    assert again.outline() == PLAN
    assert [scene.scene_id for scene in again.scenes()] == ["ch1-sc1", "ch1-sc2", "ch2-sc1"]
    assert {scene.status for scene in again.scenes()} == {SceneStatus.PLANNED}
    assert again.planned_words() == 4000
    assert again.word_target("ch2-sc1") == 2000


@pytest.mark.req("WF-G11")
async def test_an_outline_that_is_replaced_can_be_seen_and_brought_back(
    book: Manuscript, workspace: Workspace
) -> None:
    assert book.outline_versions() == ()
    await book.set_outline(PLAN, reason="proposed")
    await book.set_outline(PLAN)
    other = (PlannedScene(1, 1, "Only one", 1),)
    await book.set_outline(other, reason="my own")
    versions = Manuscript(workspace).outline_versions()
    assert [(each.number, each.reason, each.scenes) for each in versions] == [
        (1, "proposed", PLAN),
        (2, "my own", other),
    ]
    assert await book.restore_outline(1) == PLAN
    assert book.outline() == PLAN
    assert [each.scenes for each in book.outline_versions()] == [PLAN, other, PLAN]
    assert book.outline_versions()[-1].reason == "outline 1 restored"
    with pytest.raises(VersionUnknown, match="number 9") as caught:
        await book.restore_outline(9)
    assert caught.value.fix == "Outlines: 1, 2, 3."


async def test_an_outline_from_before_they_were_counted_is_the_first(
    book: Manuscript, workspace: Workspace
) -> None:
    old = {"scenes": outline_to_json(PLAN), "approved_at": 7}
    await workspace.records.put("outline", "outline", old)
    assert book.outline() == PLAN
    await book.set_outline(PLAN[:1])
    first, second = book.outline_versions()
    assert (first.number, first.approved_at, first.scenes) == (1, 7, PLAN)
    assert (second.number, second.scenes) == (2, PLAN[:1])


async def test_every_fault_of_an_outline_is_named_and_nothing_is_taken(book: Manuscript) -> None:
    await book.set_outline(PLAN)
    bad = [
        PlannedScene(1, 1, "One", 1),
        PlannedScene(1, 1, "One again", 16),
        PlannedScene(0, 2, " ", 3, "", 0),
    ]
    with pytest.raises(OutlineInvalid) as caught:
        await book.set_outline(bad)
    told = caught.value.message
    for fault in ("planned 2 times", "no beat 16", "no title", "counted from 1", "target of 0"):
        assert fault in told
    assert book.outline() == PLAN
    with pytest.raises(OutlineInvalid, match="no scene"):
        await book.set_outline([])


def test_beats_nobody_serves_are_named() -> None:
    assert uncovered_beats(PLAN) == (3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15)


async def test_a_scene_is_its_file(book: Manuscript, root: Path) -> None:
    told = meta(tension=6, characters=("Mara",), symbols=(SymbolUse("tide", "introduction"),))
    version = await book.save("ch1-sc1", TEXT, told, reason="accepted")
    assert book.path("ch1-sc1") == "content/Manuscript/Chapter_01/Scene_01.md"
    assert (root / book.path("ch1-sc1")).is_file()
    assert book.text("ch1-sc1") == TEXT
    assert book.scene("ch1-sc1") == replace(told, word_count=9)
    assert (version.number, version.reason) == (1, "accepted")
    assert TEXT in (root / version.path).read_text()
    assert book.drafted_words() == 9


async def test_what_the_writer_edits_outside_is_read_at_once(book: Manuscript, root: Path) -> None:
    await book.save("ch1-sc1", TEXT, meta(location="pier"), reason="accepted")
    file = root / book.path("ch1-sc1")
    file.write_text(
        file.read_text().replace("location: pier", "location: quay\nmood: grey")
        + "\nShe went home.\n"
    )
    assert book.scene("ch1-sc1").location == "quay"
    assert book.scene("ch1-sc1").word_count == 12
    assert book.text("ch1-sc1").endswith("She went home.")
    await book.set_meta("ch1-sc1", tension=4)
    assert "mood: grey" in file.read_text()
    await book.save("ch1-sc1", "New.", book.scene("ch1-sc1"), reason="edit")
    assert [each.reason for each in book.versions("ch1-sc1")] == [
        "accepted",
        "edited outside",
        "edit",
    ]
    assert book.version_text("ch1-sc1", 2).endswith("She went home.")


@pytest.mark.parametrize(
    "front",
    [
        "title: [unclosed\nstatus: drafted",
        "status: nonsense\ntension: 40\nbeat_number: sixteen\nsymbols: {a: {b: c}}",
    ],
)
async def test_broken_front_matter_is_told_and_costs_no_text(
    book: Manuscript, root: Path, front: str
) -> None:
    await book.save("ch1-sc1", TEXT, meta(tension=6), reason="accepted")
    file = root / book.path("ch1-sc1")
    broken = f"---\n{front}\n---\n\n{TEXT}\n"
    file.write_text(broken)
    scene = book.scene("ch1-sc1")
    assert (scene.status, scene.tension) == (SceneStatus.DRAFTED, 6)
    assert book.text("ch1-sc1") == TEXT
    assert book.problems()
    assert all("Scene_01.md" in problem for problem in book.problems())
    await book.set_meta("ch1-sc1", location="pier")
    assert book.problems() == ()
    kept = [root / each.path for each in book.versions("ch1-sc1")]
    assert broken in [each.read_text() for each in kept]


async def test_front_matter_that_is_never_closed_is_text(book: Manuscript, root: Path) -> None:
    await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    (root / book.path("ch1-sc1")).write_text(f"---\ntitle: Open\n\n{TEXT}")
    assert TEXT in book.text("ch1-sc1")


async def test_a_file_that_is_no_text_is_a_problem_and_is_not_written_over(
    book: Manuscript, root: Path
) -> None:
    await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    file = root / book.path("ch1-sc1")
    file.write_bytes(b"\xff\xfe\x00broken")
    assert "UTF-8" in book.problems()[0]
    with pytest.raises(CallboardError):
        await book.save("ch1-sc1", "New.", meta(), reason="edit")
    assert file.read_bytes() == b"\xff\xfe\x00broken"


@pytest.mark.req("WF-G74")
async def test_every_change_can_be_taken_back(book: Manuscript, root: Path) -> None:
    await book.save("ch1-sc1", "First.", meta(tension=3), reason="accepted")
    await book.save("ch1-sc1", "Second.", meta(tension=5), reason="enhanced")
    await book.save(
        "ch1-sc1", "Third.", replace(meta(), status=SceneStatus.POLISHED), reason="polished"
    )
    assert (root / "content/Archive/ch1-sc1/v001.md").is_file()
    await book.undo("ch1-sc1")
    assert book.text("ch1-sc1") == "Second."
    assert book.scene("ch1-sc1").status is SceneStatus.DRAFTED
    await book.restore("ch1-sc1", 1)
    assert (book.text("ch1-sc1"), book.scene("ch1-sc1").tension) == ("First.", 3)
    assert [book.version_text("ch1-sc1", n) for n in (1, 2, 3)] == ["First.", "Second.", "Third."]
    with pytest.raises(VersionUnknown, match="no version 9"):
        await book.restore("ch1-sc1", 9)


async def test_saving_the_same_again_makes_no_version(book: Manuscript) -> None:
    one = await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    two = await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    assert one == two
    assert len(book.versions("ch1-sc1")) == 1


async def test_a_change_made_outside_can_be_taken_back_too(book: Manuscript, root: Path) -> None:
    await book.save("ch1-sc1", "First.", meta(), reason="accepted")
    file = root / book.path("ch1-sc1")
    file.write_text(file.read_text().replace("First.", "Ruined."))
    await book.undo("ch1-sc1")
    assert book.text("ch1-sc1") == "First."
    assert book.version_text("ch1-sc1", 2) == "Ruined."


async def test_facts_that_change_alone_make_no_version_and_cost_none(book: Manuscript) -> None:
    await book.save("ch1-sc1", "First.", meta(), reason="accepted")
    await book.set_meta("ch1-sc1", tension=8)
    await book.save("ch1-sc1", "Second.", book.scene("ch1-sc1"), reason="edited")
    assert [each.reason for each in book.versions("ch1-sc1")] == ["accepted", "edited"]
    assert [book.version_text("ch1-sc1", n) for n in (1, 2)] == ["First.", "Second."]
    assert book.scene("ch1-sc1").tension == 8


async def test_there_is_nothing_to_undo_in_a_first_version(book: Manuscript) -> None:
    await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    with pytest.raises(NothingToUndo):
        await book.undo("ch1-sc1")


async def test_an_unknown_scene_is_named(book: Manuscript) -> None:
    await book.set_outline(PLAN)
    for name in ("ch9-sc9", "../../etc", "ch1"):
        with pytest.raises(SceneUnknown, match="no scene"):
            book.scene(name)
    with pytest.raises(SceneUnknown):
        book.text("ch9-sc9")


async def test_the_position_counts_what_is_written_and_what_is_to_be(book: Manuscript) -> None:
    await book.set_outline(PLAN)
    assert [book.position(scene.id) for scene in PLAN] == [0, 25, 50]
    await book.save("ch1-sc1", "word " * 600, meta(), reason="accepted")
    assert book.position("ch2-sc1") == 40
    assert book.previous("ch2-sc1") == book.scene("ch1-sc2")
    assert book.previous("ch1-sc1") is None
    assert book.next_to_write() == PLAN[1]
    assert book.next_to_write("ch1-sc2") == PLAN[2]


@pytest.mark.req("WF-G70")
async def test_a_scene_without_a_target_gets_its_share_of_the_book(book: Manuscript) -> None:
    assert book.word_target("ch1-sc1") == 1500
    await book.set_outline([PlannedScene(1, n, f"Scene {n}") for n in range(1, 41)])
    assert book.word_target("ch1-sc1") == 2000
    assert book.planned_words() == 80000


async def test_a_deleted_file_makes_its_scene_planned_again(book: Manuscript, root: Path) -> None:
    await book.set_outline(PLAN)
    await book.save("ch1-sc1", TEXT, meta(), reason="accepted")
    (root / book.path("ch1-sc1")).unlink()
    assert book.scene("ch1-sc1").status is SceneStatus.PLANNED
    assert book.drafted_words() == 0


LEGAL = {
    "planned": "planned scaffolded drafted",
    "scaffolded": "scaffolded variants_ready drafted",
    "variants_ready": "scaffolded variants_ready selected drafted",
    "selected": "scaffolded variants_ready selected analyzed enhanced drafted",
    "analyzed": "scaffolded variants_ready selected analyzed enhanced drafted",
    "enhanced": "scaffolded variants_ready selected analyzed enhanced drafted",
    "drafted": "scaffolded variants_ready selected analyzed enhanced drafted polished",
    "polished": "scaffolded variants_ready selected analyzed enhanced drafted polished",
}


@pytest.mark.req("WF-G74")
@pytest.mark.parametrize("current", list(SceneStatus))
@pytest.mark.parametrize("to", list(SceneStatus))
def test_a_scene_goes_only_where_its_status_leads(current: SceneStatus, to: SceneStatus) -> None:
    if to.value not in LEGAL[current].split():
        with pytest.raises(StatusRefused, match=f"cannot become {to}"):
            advance(current, to)
    elif current in ("drafted", "polished") and to in ("analyzed", "enhanced"):
        assert advance(current, to) is current
    else:
        assert advance(current, to) is to


async def test_a_status_out_of_turn_changes_nothing(book: Manuscript) -> None:
    await book.set_outline(PLAN)
    with pytest.raises(StatusRefused):
        await book.set_meta("ch1-sc1", status=SceneStatus.POLISHED)
    with pytest.raises(StatusRefused):
        polished = replace(meta(), status=SceneStatus.POLISHED)
        await book.save("ch1-sc1", TEXT, polished, reason="skipped")
    assert book.scene("ch1-sc1").status is SceneStatus.PLANNED
    assert book.text("ch1-sc1") == ""


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"])).map(
    lambda text: " ".join(text.split())
)
metas = st.builds(
    SceneMeta,
    scene_id=st.just("ch1-sc1"),
    chapter=st.just(1),
    scene=st.just(1),
    title=words,
    status=st.sampled_from(SceneStatus),
    tension=st.none() | st.integers(1, 10).map(float),
    location=words,
    characters=st.lists(words.filter(bool), max_size=4).map(tuple),
    symbols=st.lists(st.builds(SymbolUse, words.filter(bool), words), max_size=3).map(tuple),
    beat_number=st.none() | st.integers(1, 15),
    callbacks=st.lists(words.filter(bool), max_size=3).map(tuple),
)


@given(metas)
def test_what_is_written_into_a_scene_file_is_read_back(told: SceneMeta) -> None:
    sheet = read_sheet("scene.md", write_sheet(told, TEXT))
    assert sheet.problems == ()
    assert sheet.body == TEXT
    assert sheet.over(SceneMeta("ch1-sc1", 1, 1)) == replace(told, word_count=9)
    assert meta_from_json(meta_to_json(told), SceneMeta("ch1-sc1", 1, 1)) == told


@given(st.text(), st.text(max_size=200))
def test_no_file_is_too_broken_to_read(front: str, body: str) -> None:
    for text in (front, f"---\n{front}\n---\n{body}", f"---\n{front}"):
        sheet = read_sheet("scene.md", text)
        assert isinstance(sheet.over(SceneMeta("ch1-sc1", 1, 1)), SceneMeta)


rows = st.dictionaries(
    st.sampled_from(["chapter", "scene", "title", "beat_number", "word_target", "summary"]),
    st.none() | st.integers() | st.text() | st.floats() | st.lists(st.integers()),
)


@given(st.lists(rows) | st.text() | st.none())
def test_no_outline_from_outside_is_too_broken_to_judge(raw: Any) -> None:
    scenes = outline_from_json(raw)
    assert outline_faults(scenes) or outline_from_json(outline_to_json(scenes)) == scenes

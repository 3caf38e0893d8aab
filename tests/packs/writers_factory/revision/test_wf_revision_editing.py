"""Editing: one match or none, versions, several undos, zero tolerance, proposals by mode."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from revision_book import SCENE, Book, open_book

from callboard.core.errors import CallboardError, InvalidInput
from callboard.packs.writers_factory.manuscript import NothingToUndo
from callboard.packs.writers_factory.manuscript.facts import SceneUnknown
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.revision import (
    ChangedSince,
    EditBlocked,
    EditFailed,
    EditRequest,
    ProseRefused,
)
from callboard.packs.writers_factory.revision.editing.proposals import ProposalDecided
from callboard.packs.writers_factory.revision.editing.requests import TargetRefused, find_place
from callboard.tools.errors import PathOutsideProject

pytestmark = pytest.mark.anyio
WET = "The floor was wet"


async def start(book: Book) -> None:
    await book.plan()
    await book.write("ch1-sc1", SCENE)


def edit(old: str | None = None, new: str = "x", **more: Any) -> EditRequest:
    return EditRequest(new, more.pop("reason", "rhythm"), old, target="ch1-sc1", **more)


@pytest.mark.req("WF-105", "WF-G82")
@pytest.mark.parametrize(("old", "count"), [("Mickey", 3), ("Nobody here", 0), ("He ", 2)])
async def test_an_ambiguous_or_missing_text_fails_with_the_count(
    tmp_path: Path, old: str, count: int
) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        with pytest.raises(EditFailed) as failed:
            await book.revision.edits.apply(edit(old))
        assert failed.value.context["count"] == SCENE.count(old) == count
        assert book.text() == SCENE
        assert book.revision.edits.history("ch1-sc1") == ()


@pytest.mark.req("WF-G82", "WF-105")
async def test_edits_are_versioned_shown_as_a_diff_and_undone_one_by_one(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        texts = [SCENE]
        for old, new in ((WET, "The tiles shone"), ("Glass broke.", "Something broke.")):
            result = await book.revision.edits.apply(edit(old, new))
            assert f"-{'' if old != WET else 'Mickey'}" in result.diff and new in result.diff
            assert [hit.quote for hit in result.hits if hit.severity == "zero_tolerance"] == [
                "with surgical precision"
            ]
            texts.append(book.text())
        at = texts[-1].index("A man fell.")
        await book.revision.edits.apply(edit(None, "A man sat.", start=at, end=at + 11))
        assert "A man sat." in book.text()
        versions = book.revision.manuscript.versions("ch1-sc1")
        assert len(versions) >= 4
        for expected in reversed(texts):
            await book.revision.edits.undo("ch1-sc1")
            assert book.text() == expected
        with pytest.raises(NothingToUndo):
            await book.revision.edits.undo("ch1-sc1")
        await book.revision.edits.apply(edit(WET, "The tiles shone"))
        await book.revision.edits.undo("ch1-sc1")
        assert book.text() == SCENE
        assert len(book.revision.edits.history("ch1-sc1")) == 4


@pytest.mark.req("WF-G82")
async def test_zero_tolerance_comes_in_only_by_force(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        with pytest.raises(EditBlocked):
            await book.revision.edits.apply(edit(WET, "Something stirred within him"))
        assert book.text() == SCENE
        result = await book.revision.edits.apply(
            edit(WET, "Something stirred within him", force=True)
        )
        assert "Something stirred within" in {hit.quote for hit in result.hits}
        # What was there before does not block an edit elsewhere.
        await book.revision.edits.apply(edit("Glass broke.", "It broke."))


async def test_an_edit_is_not_undone_over_what_the_writer_typed(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        await book.revision.edits.apply(edit(WET, "The tiles shone"))
        await book.write("ch1-sc1", "Mine.")
        with pytest.raises(ChangedSince):
            await book.revision.edits.undo("ch1-sc1")
        assert book.text() == "Mine."


@given(
    text=st.text("ab \n", max_size=30),
    old=st.text("ab", max_size=3),
    start=st.none() | st.integers(-3, 40),
    end=st.none() | st.integers(-3, 40),
)
def test_an_edit_has_one_place_or_none(
    text: str, old: str, start: int | None, end: int | None
) -> None:
    request = EditRequest("x", "why", old or None, start, end, target="t")
    try:
        place = find_place(request, text)
    except (EditFailed, InvalidInput):
        return
    assert 0 <= place.start <= place.end <= len(text)
    if old:
        assert text[place.start : place.end] == old
    if start is None and end is None:
        assert sum(text.startswith(old, at) for at in range(len(text))) == 1


async def test_an_edit_needs_a_reason_and_something_to_replace(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        for request in (edit(WET, reason=" "), edit(None), edit(""), edit(WET, start=0, end=3)):
            with pytest.raises(CallboardError):
                await book.revision.edits.apply(request)
        assert book.text() == SCENE


@pytest.mark.req("WF-G82", "WF-G40")
@pytest.mark.parametrize(
    "target",
    [
        "../outside.md",
        "/etc/passwd",
        ".callboard/callboard.db",
        "content/Archive/ch1-sc1/v001.md",
        "content/Export/Book.md",
        "notes.md",
        "content/picture.png",
        "ch9-sc9",
        "content/link/x.md",
    ],
)
async def test_only_the_writers_texts_can_be_named(tmp_path: Path, target: str) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        outside = tmp_path / "outside"
        outside.mkdir()
        os.symlink(outside, book.root / "content/link")
        with pytest.raises((TargetRefused, SceneUnknown, PathOutsideProject)):
            await book.revision.edits.apply(EditRequest("x", "why", "y", target=target))
        with pytest.raises((TargetRefused, SceneUnknown, PathOutsideProject)):
            await book.revision.proposals.propose(target, "Words.", mode="DIRECTOR")
        assert list(outside.iterdir()) == []


async def test_other_files_of_the_writer_can_be_edited_and_undone(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        notes = book.root / "content/Notes.md"
        notes.write_text("One. Two.\n")
        await book.revision.edits.apply(
            EditRequest("Three.", "why", "Two.", target="content/Notes.md")
        )
        assert notes.read_text() == "One. Three.\n"
        await book.revision.edits.undo("content/Notes.md")
        assert notes.read_text() == "One. Two.\n"


# Proposals


@pytest.mark.req("WF-G40")
@pytest.mark.parametrize("mode", ["ARCHITECT", "VOICE_CALIBRATION"])
async def test_before_drafting_no_prose_is_taken(tmp_path: Path, mode: str) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        for target in ("ch1-sc1", "content/Manuscript/Chapter_01/Scene_01.md"):
            with pytest.raises(ProseRefused):
                await book.revision.proposals.propose(target, "Prose.", mode=mode)
        assert book.revision.proposals.all() == ()
        kept = await book.revision.proposals.propose("content/Ideas.md", "An idea.", mode=mode)
        assert kept.state == "pending"
        await book.revision.proposals.accept(kept.id, mode=mode)
        assert (book.root / "content/Ideas.md").read_text() == "An idea.\n"


@pytest.mark.req("WF-G40")
async def test_in_director_an_accepted_proposal_is_the_draft(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        made = await book.revision.proposals.propose(
            "ch1-sc2", "They drove all night.", mode="DIRECTOR", source="foreman"
        )
        assert "+They drove all night." in made.diff
        assert book.text("ch1-sc2") == ""
        done = await book.revision.proposals.accept(made.id, mode="DIRECTOR")
        assert done.state == "accepted"
        assert book.text("ch1-sc2").strip() == "They drove all night."
        assert book.meta("ch1-sc2").status is SceneStatus.DRAFTED
        with pytest.raises(ProposalDecided):
            await book.revision.proposals.reject(made.id)


@pytest.mark.req("WF-G40")
async def test_in_editor_a_proposal_is_an_edit_with_undo_and_zero_tolerance(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        bad = await book.revision.proposals.propose(
            "ch1-sc1", f"{SCENE} She smiled with icy precision.", mode="EDITOR"
        )
        with pytest.raises(EditBlocked):
            await book.revision.proposals.accept(bad.id, mode="EDITOR")
        assert book.revision.proposals.get(bad.id).state == "pending"
        good = await book.revision.proposals.propose(
            "ch1-sc1", SCENE.replace("Glass broke.", "It broke."), mode="EDITOR"
        )
        await book.revision.proposals.accept(good.id, mode="EDITOR")
        assert "It broke." in book.text()
        await book.revision.edits.undo("ch1-sc1")
        assert book.text() == SCENE


@pytest.mark.req("WF-G40")
async def test_a_proposal_that_is_rejected_or_out_of_date_changes_nothing(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await start(book)
        one = await book.revision.proposals.propose("ch1-sc1", "A.", mode="DIRECTOR")
        two = await book.revision.proposals.propose("ch1-sc1", "B.", mode="DIRECTOR")
        await book.revision.proposals.reject(one.id)
        assert [each.id for each in book.revision.proposals.all(pending_only=True)] == [two.id]
        await book.write("ch1-sc1", "Mine.")
        with pytest.raises(ChangedSince):
            await book.revision.proposals.accept(two.id, mode="DIRECTOR")
        assert book.text() == "Mine."

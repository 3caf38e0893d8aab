"""Edits, decisions and proposals that are tried again after a crash end as if there was none."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from revision_book import SCENE, lay_book, open_book, verdict

from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus
from callboard.packs.writers_factory.modes import ModeGated
from callboard.packs.writers_factory.revision import ChangedSince, EditRequest
from callboard.packs.writers_factory.revision.editing.edits import KIND
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import StoreError
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio
from callboard.testing import Blackout, FailAt, Moment
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

CHAT = "writers_factory/chat"
BEFORE = "The rain fell.\n\nThe lamp was lit."
AFTER = BEFORE.replace("lamp", "brass lamp")
# What is put in holds what it replaces: made twice, it would show.
EDIT = (
    "<message>I will name it. What else?</message>\n"
    '<action type="apply_edit"><target>ch1-sc1</target><old_text>lamp</old_text>'
    "<new_text>brass lamp</new_text><reason>concrete</reason></action>"
)
PHRASE, SIMILE = "He cut the tape with surgical precision.", "like a drunk carpenter"
JUDGE = "revision/judge_scene"


@asynccontextmanager
async def opened(root: Path, **options: Any) -> AsyncIterator[Studio]:
    async with open_scripted(root, Script(Line(EDIT, times=None)), **options) as studio:
        yield studio


async def lay_scene(root: Path) -> None:
    lay_book(root, has_voice=False)
    async with opened(root) as studio:
        rooms = Rooms.open(Workspace(studio))
        meta = SceneMeta("ch1-sc1", 1, 1, "Fog", SceneStatus.DRAFTED)
        await rooms.manuscript.save("ch1-sc1", BEFORE, meta, reason="test")
        with pytest.raises(ModeGated):
            await rooms.modes.advance("EDITOR", by="writer")
        await rooms.modes.advance("EDITOR", by="writer", override=True, risk_note="a test")


class CutAfterBegun(Blackout):
    """Cuts the power before the n-th commit that follows the one by which an edit is begun."""

    def __init__(self, root: Path, nth: int) -> None:
        super().__init__(Moment("store.before_commit", nth=1_000_000))
        self.database = root / ".callboard" / "callboard.db"
        self.left = nth

    def reach(self, point: str) -> None:
        if point == "store.before_commit" and not self.is_dark and self.is_begun():
            self.left -= 1
            self.is_dark = self.left == 0
        super().reach(point)

    def is_begun(self) -> bool:
        with closing(sqlite3.connect(self.database)) as connection:
            query = "SELECT count(*) FROM records WHERE kind = ?"
            return bool(connection.execute(query, (KIND,)).fetchone()[0])


async def crash(root: Path, nth: int) -> None:
    faults = CutAfterBegun(root, nth)
    with pytest.raises(StoreError, match="the power was cut"):
        async with opened(root, faults=faults) as studio:
            run = await studio.start(CHAT, {"message": "Which lamp?"})
            await studio.engine.wait(run.id)
    assert faults.is_dark


async def resume(studio: Studio) -> dict[str, Any]:
    (run,) = studio.database.read(lambda c: list_runs(c, choreography=CHAT))
    done = await studio.engine.wait(run.id)
    assert done.state is RunState.DONE, done.error
    turn: Any = done.result
    return turn["actions"][0]


# The commits of an edit once it is begun: its version, the scene, that it is made, the step.
@pytest.mark.req("WF-105", "WF-G45")
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
async def test_an_edit_of_the_foreman_is_made_once_wherever_the_power_is_cut(
    tmp_path: Path, nth: int
) -> None:
    root = tmp_path / "book"
    await lay_scene(root)
    await crash(root, nth)
    async with opened(root) as studio:
        told = await resume(studio)
        assert told["status"] == "executed", told
        assert "+The brass lamp was lit." in told["data"]["diff"]
        rooms = Rooms.open(Workspace(studio))
        assert rooms.manuscript.text("ch1-sc1") == AFTER
        versions = rooms.manuscript.versions("ch1-sc1")
        assert [each.reason for each in versions] == ["test", "edit: concrete"]
        assert told["data"]["version"] == "2"
        (made,) = rooms.revision.edits.history("ch1-sc1")
        assert made["id"] == told["data"]["edit_id"]
        await rooms.revision.edits.undo("ch1-sc1")
        assert rooms.manuscript.text("ch1-sc1") == BEFORE


@pytest.mark.req("WF-105")
@pytest.mark.parametrize(
    ("typed", "status", "left"),
    [(BEFORE, "executed", AFTER), ("Mine.", "failed", "Mine.")],
)
async def test_what_stands_in_the_file_says_whether_a_begun_edit_was_made(
    tmp_path: Path, typed: str, status: str, left: str
) -> None:
    root = tmp_path / "book"
    await lay_scene(root)
    await crash(root, 1)
    file = root / "content/Manuscript/Chapter_01/Scene_01.md"
    file.write_text(file.read_text().replace(AFTER, typed))
    async with opened(root) as studio:
        told = await resume(studio)
        assert (told["status"], Rooms.open(Workspace(studio)).manuscript.text("ch1-sc1")) == (
            status,
            left,
        )


async def test_an_edit_the_writer_took_back_is_not_made_again(tmp_path: Path) -> None:
    root = tmp_path / "book"
    await lay_scene(root)
    async with opened(root) as studio:
        edits = Rooms.open(Workspace(studio)).revision.edits
        request = EditRequest("brass lamp", "concrete", "lamp", target="ch1-sc1")
        made = await edits.apply(request, once="turn/1")
        await edits.undo("ch1-sc1")
        again = await edits.apply(request, once="turn/1")
        assert (again.edit_id, again.diff) == (made.edit_id, made.diff)
        assert Rooms.open(Workspace(studio)).manuscript.text("ch1-sc1") == BEFORE
        other = await edits.apply(request, once="turn/2")
        assert other.edit_id != made.edit_id


async def failing_once(root: Path, nth: int, act: Any) -> None:
    """Do something in a book whose n-th commit from then on fails."""
    faults = FailAt(Moment("store.before_commit", nth=1_000_000), StoreError("the power was cut"))
    async with open_book(root, has_voice=False, faults=faults) as book:
        faults.moment = Moment(
            "store.before_commit", nth=faults.counts["store.before_commit"] + nth
        )
        with pytest.raises(StoreError):
            await act(book)


# The commits of an undo: its version, the scene, that it is undone.
@pytest.mark.parametrize("nth", [1, 2, 3])
async def test_an_undo_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, nth: int) -> None:
    root = tmp_path / "book"
    await lay_scene(root)
    async with open_book(root) as book:
        await book.revision.edits.apply(EditRequest("brass lamp", "why", "lamp", target="ch1-sc1"))
    await failing_once(root, nth, lambda book: book.revision.edits.undo("ch1-sc1"))
    async with open_book(root) as book:
        await book.revision.edits.undo("ch1-sc1")
        assert book.text() == BEFORE
        (edit,) = book.revision.edits.history("ch1-sc1")
        assert edit["is_undone"]


async def enhance(root: Path) -> str:
    def fix(number: int, old: str, new: str) -> dict[str, Any]:
        return {"issue": number, "old_text": old, "new_text": new, "reason": "plainer"}

    fixes = [fix(1, PHRASE, "He cut the tape."), fix(2, SIMILE, "hard")]
    script = Script(
        Line(json=verdict(9), prompt_type=JUDGE, times=None),
        Line(json={"fixes": fixes}, prompt_type="revision/fix_issues"),
    )
    async with open_book(root, script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        return str((await book.run("enhance", scene_id="ch1-sc1"))["id"])


# The commits of a decision: that it is begun, its version, the scene, that it is done.
@pytest.mark.req("WF-G81")
@pytest.mark.parametrize("nth", [1, 2, 3, 4])
async def test_a_decision_that_was_cut_short_can_be_made_again(tmp_path: Path, nth: int) -> None:
    root = tmp_path / "book"
    name = await enhance(root)
    await failing_once(root, nth, lambda book: book.revision.decide(name, accept=["fix1"]))
    async with open_book(root) as book:
        await book.revision.decide(name, accept=["fix1"])
        assert book.text() == SCENE.replace(PHRASE, "He cut the tape.")
        decided = book.revision.enhancement(name)
        assert [each.status for each in decided.changes] == ["accepted", "proposed"]
        reasons = [each.reason for each in book.revision.manuscript.versions("ch1-sc1")]
        assert reasons == ["written", f"action_prompt {name}"]


@pytest.mark.req("WF-G81")
async def test_a_decision_that_was_cut_short_is_not_lost_by_another(tmp_path: Path) -> None:
    root = tmp_path / "book"
    name = await enhance(root)
    await failing_once(root, 2, lambda book: book.revision.decide(name, accept=["fix1"]))
    async with open_book(root) as book:
        await book.revision.decide(name, accept=["fix2"])
        assert book.text() == SCENE.replace(PHRASE, "He cut the tape.").replace(SIMILE, "hard")
        await book.write("ch1-sc1", "Mine.")
        with pytest.raises(ChangedSince):
            await book.revision.decide(name, reject=["fix1"])


@pytest.mark.req("WF-G40")
@pytest.mark.parametrize("mode", ["DIRECTOR", "EDITOR"])
async def test_a_proposal_that_was_put_in_place_before_a_crash_can_be_accepted_again(
    tmp_path: Path, mode: str
) -> None:
    root = tmp_path / "book"
    await lay_scene(root)
    async with open_book(root) as book:
        made = await book.revision.proposals.propose("ch1-sc1", "Fog, then.", mode=mode)
    last = {"DIRECTOR": 3, "EDITOR": 5}[mode]
    await failing_once(root, last, lambda book: book.revision.proposals.accept(made.id, mode=mode))
    async with open_book(root) as book:
        assert book.text() == "Fog, then."
        accepted = await book.revision.proposals.accept(made.id, mode=mode)
        assert (accepted.state, book.text()) == ("accepted", "Fog, then.")

"""A proposal is kept once, wherever the process that makes it dies."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from revision_book import lay_book, open_book

from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.packs.writers_factory.revision import Revision
from callboard.packs.writers_factory.revision.editing.proposals import KIND
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import StoreError
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio
from callboard.testing import Blackout, Moment
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

CHAT = "writers_factory/chat"
REPLY = (
    "<message>Here is an idea. Shall I go on?</message>\n"
    '<content_update target="content/Ideas.md">The tide turns twice.</content_update>'
)


@asynccontextmanager
async def opened(root: Path, **options: Any) -> AsyncIterator[Studio]:
    script = Script(Line(REPLY, times=None))
    async with open_scripted(root, script, **options) as studio:
        yield studio


class CutOnceKept(Blackout):
    """Cuts the power right after the commit that keeps a proposal."""

    def __init__(self, root: Path) -> None:
        super().__init__(Moment("store.after_commit", nth=1_000_000))
        self.database = root / ".callboard" / "callboard.db"

    def reach(self, point: str) -> None:
        if point == "store.after_commit" and self.count_kept():
            self.is_dark = True
        super().reach(point)

    def count_kept(self) -> int:
        with closing(sqlite3.connect(self.database)) as connection:
            query = "SELECT count(*) FROM records WHERE kind = ?"
            return int(connection.execute(query, (KIND,)).fetchone()[0])


@pytest.mark.req("WF-G40", "WF-G45")
async def test_a_step_that_is_repeated_after_a_crash_keeps_no_second_proposal(
    tmp_path: Path,
) -> None:
    root = tmp_path / "book"
    lay_book(root, has_voice=False)
    faults = CutOnceKept(root)
    with pytest.raises(StoreError, match="the power was cut"):
        async with opened(root, faults=faults) as studio:
            run = await studio.start(CHAT, {"message": "An idea, please."})
            await studio.engine.wait(run.id)
    assert faults.is_dark and faults.count_kept() == 1
    async with opened(root) as studio:
        (run,) = studio.database.read(lambda c: list_runs(c, choreography=CHAT))
        done = await studio.engine.wait(run.id)
        assert done.state is RunState.DONE
        (kept,) = Revision(Workspace(studio)).proposals.all()
        assert kept.text == "The tide turns twice.\n"
        turn: Any = done.result
        assert [each["proposal"] for each in turn["content_updates"]] == [kept.id]


@pytest.mark.req("WF-G40")
async def test_what_became_of_a_proposal_stays_when_it_is_made_again(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", has_voice=False) as book:
        made = await book.revision.proposals.propose(
            "content/Ideas.md", "One.", mode="ARCHITECT", source="conversation:run_1"
        )
        await book.revision.proposals.accept(made.id, mode="ARCHITECT")
        again = await book.revision.proposals.propose(
            "content/Ideas.md", "One.", mode="ARCHITECT", source="conversation:run_1"
        )
        assert (again.id, again.state) == (made.id, "accepted")
        other = await book.revision.proposals.propose(
            "content/Ideas.md", "One.", mode="ARCHITECT", source="conversation:run_2"
        )
        assert other.id != made.id
        assert [each.id for each in book.revision.proposals.all()] == [made.id, other.id]

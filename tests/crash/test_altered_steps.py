"""The output of a finished step is edited: the run stops there and says so, and loses nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bad_days import opening
from stagehand import PACK, answer_to

from callboard.core.canonical import digest_bytes
from callboard.core.vocabulary import RunState
from callboard.store.journal.encoding import RowDamaged
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import StepAltered, load_journal
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

TAMPERED = json.dumps("TAMPERED OUTPUT")


def plain(root: Path, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(Project(root).database, isolation_level=None)) as connection:
        return connection.execute(sql, values).fetchall()


def ours(**changes: Any) -> Any:
    return opening(packs=(load_pack(PACK),), **changes)


async def waiting_run(root: Path) -> str:
    async with Studio.open(root, ours()) as studio:
        run = await studio.start("ledger", {})
        while not studio.database.read(list_questions):
            await studio.engine._changes.next()
        return run.id


@pytest.mark.parametrize(
    "edit",
    [
        ("output = ?", TAMPERED),
        ("output = ?", "not even JSON"),
        ("output_hash = ?", digest_bytes(b"another")),
        ("output = NULL, output_hash = ?", digest_bytes(b"a blob that is not there")),
        ("output = NULL, output_hash = ?", None),
    ],
)
async def test_a_step_that_was_edited_is_not_replayed(root: Path, edit: tuple[str, Any]) -> None:
    run_id = await waiting_run(root)
    ((output, hashed),) = plain(root, "SELECT output, output_hash FROM steps WHERE key = 'entry'")
    plain(root, f"UPDATE steps SET {edit[0]} WHERE key = 'entry'", edit[1])  # noqa: S608
    seen = (root / "ledger.txt").read_text("utf-8")
    async with Studio.open(root, ours()) as studio:
        with pytest.raises(StepAltered) as caught:
            await studio.engine.wait(run_id)
        assert "'entry'" in caught.value.message
        assert run_id in caught.value.message
        assert caught.value.fix
        stopped = studio.engine.load(run_id)
    assert (stopped.state, stopped.owner, stopped.error) == (RunState.RUNNING, None, None)
    # Put right, it goes on where it was.
    plain(root, "UPDATE steps SET output = ?, output_hash = ? WHERE key = 'entry'", output, hashed)
    async with Studio.open(root, ours()) as studio:
        (asked,) = studio.database.read(list_questions)
        await studio.engine.answer(asked.id, answer_to(root, asked.key))
        assert (await studio.engine.wait(run_id)).state is RunState.DONE
    assert (root / "ledger.txt").read_text("utf-8").startswith(seen)


async def test_a_large_output_is_compared_as_well(root: Path) -> None:
    run_id = await waiting_run(root)
    large = json.dumps("x" * 5000).encode()
    plain(root, "INSERT INTO blobs VALUES (?, ?)", digest_bytes(large), large.upper())
    plain(
        root,
        "UPDATE steps SET output = NULL, output_hash = ? WHERE key = 'entry'",
        digest_bytes(large),
    )
    async with Studio.open(root, ours()) as studio:
        with pytest.raises(StepAltered, match="entry"):
            await studio.engine.wait(run_id)


async def test_an_answer_that_was_edited_is_not_replayed(root: Path) -> None:
    run_id = await waiting_run(root)
    async with Studio.open(root, ours(recover=False)) as studio:
        (asked,) = studio.database.read(list_questions)
        await studio.engine.answer(asked.id, "as said", dispatch=True)
        await studio.engine.wait(run_id)
    plain(root, "UPDATE steps SET output = '\"as never said\"' WHERE key = 'word'")
    plain(root, "DELETE FROM steps WHERE key IN ('last', 'done')")
    plain(root, "UPDATE runs SET state = 'running', result = NULL")
    async with Studio.open(root, ours()) as studio:
        with pytest.raises(StepAltered, match="word"):
            await studio.engine.wait(run_id)


async def test_a_step_of_an_unknown_kind_leaves_its_run_to_be_resumed(root: Path) -> None:
    run_id = await waiting_run(root)
    plain(root, "UPDATE steps SET kind = 'zzz' WHERE key = 'entry'")
    async with Studio.open(root, ours(recover=False)) as studio:
        with pytest.raises(Exception, match="zzz") as caught:
            await studio.engine.resume(run_id)
        assert getattr(caught.value, "code", "") == "row_damaged"
        assert studio.engine.load(run_id).owner is None


async def test_a_run_that_was_made_its_own_ancestor_is_named_and_reads_to_an_end(
    tmp_path: Path,
) -> None:
    root = Project.init(tmp_path / "sea").root
    run_id = await waiting_run(root)
    plain(root, "UPDATE runs SET parent_id = id, parent_seq = 1 WHERE id = ?", run_id)
    async with Studio.open(root, ours(recover=False)) as studio:
        run = studio.engine.load(run_id)
        with pytest.raises(RowDamaged, match="among its own ancestors"):
            studio.database.read(lambda connection: load_journal(connection, run))

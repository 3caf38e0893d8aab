"""The end of the journal is lost: effects that took place are looked into, never repeated."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from bad_days import new_project, opening
from crashlab import KILLED, Expected, Stagehand, Trial
from stagehand import LEDGER, PACK, answer_to

from callboard.core.vocabulary import RunRecord, RunState, SignalKind
from callboard.store.journal.questions import list_questions
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import ActAt, Moment

pytestmark = pytest.mark.timeout(300)

Spoil = Callable[[Path], None]


def cut_to(share: float) -> Spoil:
    def spoil(log: Path) -> None:
        log.write_bytes(log.read_bytes()[: int(log.stat().st_size * share)])

    return spoil


def flip_bits(log: Path) -> None:
    luck = random.Random(7)
    data = bytearray(log.read_bytes())
    for _ in range(8):
        data[luck.randrange(len(data) // 2, len(data))] ^= 1 << luck.randrange(8)
    log.write_bytes(bytes(data))


def remove(log: Path) -> None:
    log.unlink()


@pytest.mark.parametrize(
    "spoil", [cut_to(0.8), cut_to(0.6), flip_bits, remove], ids=["80%", "60%", "bits", "gone"]
)
@pytest.mark.parametrize("nth", [4, 8])
def test_effects_behind_a_lost_log_are_not_repeated(
    stagehand: Stagehand,
    tmp_path: Path,
    calm: Callable[[str], Expected],
    spoil: Spoil,
    nth: int,
) -> None:
    expected = calm("ledger")
    trial = Trial(stagehand, tmp_path / "trial", "ledger")
    assert trial.perform(kill=["step.after_record", nth]) == KILLED
    done = trial.ledger()
    assert done
    log = trial.database.with_name("callboard.db-wal")
    assert log.stat().st_size
    # A log of which everything is already in the database would show nothing.
    spoil(log)
    trial.database.with_name("callboard.db-shm").unlink()
    if not knows_the_run(trial):
        # The run itself is lost: nothing goes on by itself, and the user is told.
        return
    outcome = trial.recover()
    assert outcome["state"] == "done", outcome["error"]
    assert sorted(trial.ledger()) == expected.ledger


def knows_the_run(trial: Trial) -> bool:
    """Look into a copy: opening the log mends it."""
    copy = trial.folder / "look"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for path in trial.database.parent.glob("callboard.db*"):
        shutil.copy(path, copy / path.name)
    connection = sqlite3.connect(copy / "callboard.db")
    try:
        return connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0] == 1
    finally:
        connection.close()


async def answered(studio: Studio, run_id: str) -> RunRecord:
    """Answer like a human who looks into the ledger, until the run is over."""
    while not (run := await studio.engine.wait(run_id, settled=True)).is_terminal:
        for asked in studio.database.read(list_questions):
            if "/unknown/" in asked.key:
                assert "lost its end" in asked.question.text
            await studio.engine.answer(asked.id, answer_to(studio.project.root, asked.key))
        await studio.engine._changes.next()
    return run


@pytest.mark.parametrize("known_by", ["head and mirrors", "head", "mirrors"])
@pytest.mark.anyio
async def test_an_older_copy_repeats_no_effect(
    tmp_path: Path, known_by: str, caplog: pytest.LogCaptureFixture
) -> None:
    root = new_project(tmp_path / "project")
    project, old = Project(root), tmp_path / "old"

    def copy() -> None:
        old.mkdir()
        for path in project.folder.glob("callboard.db*"):
            shutil.copy(path, old / path.name)

    packs = (load_pack(PACK),)
    before = ActAt(Moment("step.before_intent", 1), copy)
    async with Studio.open(root, opening(packs=packs, faults=before)) as studio:
        run = await studio.start("ledger", {})
        while not studio.database.read(list_questions):
            await studio.engine._changes.next()
        studio.mirrors.touch(run.id, run.session_id)
        await studio.mirrors.flush()
    done = (root / "ledger.txt").read_text("utf-8").splitlines()
    assert len(done) >= 2
    for path in project.folder.glob("callboard.db*"):
        path.unlink()
    for path in old.iterdir():
        shutil.copy(path, project.folder / path.name)
    if known_by == "head":
        shutil.rmtree(project.runs)
        shutil.rmtree(project.audit / "sessions")
    if known_by == "mirrors":
        project.head.unlink()
    async with Studio.open(root, opening(packs=packs)) as studio:
        ended = await answered(studio, run.id)
    assert ended.state is RunState.DONE, ended.error
    assert sorted((root / "ledger.txt").read_text("utf-8").splitlines()) == sorted(LEDGER.values())
    # Said in one line when the run was taken up.
    assert [line for line in caplog.messages if run.id in line]


@pytest.mark.anyio
async def test_a_step_taken_out_of_the_middle_is_not_repeated(tmp_path: Path) -> None:
    root = new_project(tmp_path / "project")
    project, packs = Project(root), (load_pack(PACK),)
    async with Studio.open(root, opening(packs=packs)) as studio:
        run = await studio.start("ledger", {})
        while not studio.database.read(list_questions):
            await studio.engine._changes.next()
        studio.mirrors.touch(run.id, run.session_id)
        await studio.mirrors.flush()
    with sqlite3.connect(project.database) as connection:
        gone = connection.execute(
            "DELETE FROM steps WHERE rowid = (SELECT MIN(rowid) FROM steps WHERE effect = 'once'"
            " AND state = 'done')"
        ).rowcount
    connection.close()
    assert gone == 1
    async with Studio.open(root, opening(packs=packs)) as studio:
        await answered(studio, run.id)
    assert sorted((root / "ledger.txt").read_text("utf-8").splitlines()) == sorted(LEDGER.values())


async def played_up_to_the_question(root: Path) -> RunRecord:
    """Leave a run that waits for its last word, every mirror of it removed."""
    async with Studio.open(root, opening(packs=(load_pack(PACK),))) as studio:
        run = await studio.start("ledger", {})
        while not studio.database.read(list_questions):
            await studio.engine._changes.next()
        await studio.mirrors.flush()
    shutil.rmtree(Project(root).runs)
    shutil.rmtree(Project(root).audit / "sessions")
    return run


def edit(root: Path, *statements: str) -> None:
    connection = sqlite3.connect(Project(root).database, isolation_level=None)
    try:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
    finally:
        connection.close()


@pytest.mark.parametrize(
    "edits",
    [
        ("DELETE FROM steps WHERE effect = 'once'",),
        ("DELETE FROM steps WHERE key = 'blind'",),
        ("UPDATE steps SET key = 'another' WHERE key = 'checked'",),
        (
            "DELETE FROM steps WHERE effect = 'once'",
            "DELETE FROM receipts",
            "DELETE FROM events WHERE step_key IS NOT NULL",
        ),
        # Without the entries that tell of it, the ledger itself tells that it is not whole.
        (
            "DELETE FROM steps WHERE key = 'two/blind'",
            "DELETE FROM ledger WHERE instr(body, '\"two/blind\"')",
        ),
        (
            "DELETE FROM steps WHERE key = 'two/blind'",
            "UPDATE ledger SET body = CAST(replace(body, 'two/blind', 'two/b1ind') AS BLOB)"
            " WHERE instr(body, '\"two/blind\"')",
        ),
    ],
    ids=["all", "one", "renamed", "receipts", "entries", "edited entries"],
)
@pytest.mark.anyio
async def test_what_only_the_ledger_knows_is_not_repeated(
    tmp_path: Path, edits: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    root = new_project(tmp_path / "project")
    run = await played_up_to_the_question(root)
    edit(root, *edits)
    async with Studio.open(root, opening(packs=(load_pack(PACK),))) as studio:
        ended = await answered(studio, run.id)
    assert ended.state is RunState.DONE, ended.error
    assert sorted((root / "ledger.txt").read_text("utf-8").splitlines()) == sorted(LEDGER.values())
    assert [line for line in caplog.messages if run.id in line and "ledger" in line]


@pytest.mark.anyio
async def test_a_retry_asks_the_ledger_about_the_run_it_goes_on_from(tmp_path: Path) -> None:
    root = new_project(tmp_path / "project")
    run = await played_up_to_the_question(root)
    packs = (load_pack(PACK),)
    async with Studio.open(root, opening(packs=packs, recover=False)) as studio:
        await studio.engine.signal(run.id, SignalKind.CANCEL)
    shutil.rmtree(Project(root).runs, ignore_errors=True)
    # One is gone, one lies behind what a retry takes over, one counts as failed.
    edit(
        root,
        "DELETE FROM steps WHERE key = 'blind'",
        "UPDATE steps SET state = 'failed' WHERE key = 'checked'",
        "UPDATE steps SET state = 'failed', seq = 1000 WHERE key = 'two/blind'",
    )
    async with Studio.open(root, opening(packs=packs)) as studio:
        again = await studio.retry(run.id)
        assert (await answered(studio, again.id)).state is RunState.DONE
    assert sorted((root / "ledger.txt").read_text("utf-8").splitlines()) == sorted(LEDGER.values())


@pytest.mark.anyio
async def test_nothing_is_asked_about_a_run_that_has_lost_nothing(tmp_path: Path) -> None:
    root = new_project(tmp_path / "project")
    run = await played_up_to_the_question(root)
    keys: list[str] = []
    async with Studio.open(root, opening(packs=(load_pack(PACK),))) as studio:
        while not (await studio.engine.wait(run.id, settled=True)).is_terminal:
            for asked in studio.database.read(list_questions):
                keys.append(asked.key)
                await studio.engine.answer(asked.id, answer_to(root, asked.key))
            await studio.engine._changes.next()
    assert keys == ["word"]


@pytest.mark.anyio
async def test_accepting_the_database_ends_the_doubt_of_the_ledger(tmp_path: Path) -> None:
    root = new_project(tmp_path / "project")
    run = await played_up_to_the_question(root)
    edit(root, "DELETE FROM steps WHERE key = 'blind'", "DELETE FROM ledger WHERE seq = 5")
    async with Studio.open(root, opening(packs=(load_pack(PACK),), recover=False)) as studio:
        assert not studio.database.missing("steps", {run.id}).is_whole
        studio.database.accept()
        missing = studio.database.missing("steps", {run.id})
        assert missing.is_whole
        assert not missing.keys


@pytest.mark.anyio
async def test_a_run_begun_after_the_loss_is_in_no_doubt(tmp_path: Path) -> None:
    root = new_project(tmp_path / "project")
    packs = (load_pack(PACK),)
    async with Studio.open(root, opening(packs=packs)) as studio:
        tail = Project(root).head.read_bytes()
    async with Studio.open(root, opening(packs=packs)):
        pass
    connection = sqlite3.connect(Project(root).database, isolation_level=None)
    connection.execute("DELETE FROM ledger WHERE seq > ?", (int(tail.split()[0]),))
    connection.close()
    async with Studio.open(root, opening(packs=packs)) as studio:
        assert studio.database.gap() is not None
        await studio.start("ledger", {})
        while not (asked := studio.database.read(list_questions)):
            await studio.engine._changes.next()
        assert [each.key for each in asked] == ["word"]

"""The run folder follows the journal, whatever happened to the folder meanwhile."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.core.vocabulary import (
    Effect,
    RunRecord,
    RunState,
    SessionRecord,
    SessionState,
    StepKind,
    StepRecord,
    StepState,
)
from callboard.store.database import Database
from callboard.store.faults import NoFaults
from callboard.store.files import read_whole_lines, write_atomically
from callboard.store.journal.processes import ProcessRecord, insert_process
from callboard.store.journal.runs import claim, finish, insert_run
from callboard.store.journal.sessions import insert_session
from callboard.store.journal.steps import insert_step
from callboard.store.mirror import RunMirror
from stores import open_store

TRICKY = "a line\u2028separator, a tab\t, a newline\n and an umlaut ü"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_store(tmp_path / "callboard.db")
    session = SessionRecord("sess_1", "main", SessionState.ACTIVE, created_at=1)
    run = RunRecord("run_1", "sess_1", "pack/play", RunState.RUNNING, created_at=1)

    def work(connection: Any) -> None:
        insert_session(connection, session)
        insert_process(connection, ProcessRecord("proc_1", 1, "here", 1))
        insert_run(connection, run)
        claim(connection, "run_1", "proc_1", None)

    opened.submit(work).result()
    yield opened
    opened.close()


def add_step(database: Database, number: int, output: Any) -> None:
    step = StepRecord(
        "run_1",
        f"step/{number}",
        number,
        StepKind.WORK,
        Effect.PURE,
        StepState.DONE,
        "hash",
        output=output,
        slot=f"slot{number}",
        started_at=number,
        ended_at=number,
    )
    database.submit(lambda c: insert_step(c, step)).result()


@pytest.fixture
def mirror(database: Database, tmp_path: Path) -> RunMirror:
    return RunMirror(database, tmp_path / "runs", NoFaults())


def told(folder: Path) -> list[str]:
    lines = (folder / "steps.jsonl").read_text("utf-8").split("\n")
    assert lines.pop() == ""
    return [json.loads(line)["key"] for line in lines]


def test_the_folder_grows_with_the_journal(
    database: Database, mirror: RunMirror, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "run_1"
    for number in (1, 2, 3):
        add_step(database, number, {"text": TRICKY * 200})
        mirror.sync("run_1")
        assert told(folder) == [f"step/{n}" for n in range(1, number + 1)]
    cache = json.loads((folder / "cache.json").read_text("utf-8"))
    assert cache["slot2"]["value"] == {"text": TRICKY * 200}
    assert json.loads((folder / "run.json").read_text("utf-8"))["steps"] == 3


def test_what_is_complete_is_only_appended_to(
    database: Database, mirror: RunMirror, tmp_path: Path
) -> None:
    path = tmp_path / "runs" / "run_1" / "steps.jsonl"
    add_step(database, 1, TRICKY)
    mirror.sync("run_1")
    before = path.stat().st_ino, path.read_bytes()
    add_step(database, 2, TRICKY)
    mirror.sync("run_1")
    assert path.stat().st_ino == before[0]
    assert path.read_bytes().startswith(before[1])


def cut(folder: Path) -> None:
    path = folder / "steps.jsonl"
    path.write_bytes(path.read_bytes()[:-20])


def scribble(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(b"\xff\x00 rubbish")


def change(folder: Path) -> None:
    path = folder / "steps.jsonl"
    path.write_text(path.read_text("utf-8").replace("step/1", "step/9"), "utf-8")


def double(folder: Path) -> None:
    path = folder / "steps.jsonl"
    path.write_bytes(path.read_bytes() * 2)


def litter(folder: Path) -> None:
    (folder / ".run.json.abc123.unfinished").write_text("half", "utf-8")


@pytest.mark.parametrize("spoil", [cut, scribble, change, double, litter, shutil.rmtree])
def test_a_spoiled_folder_is_put_right(
    database: Database, mirror: RunMirror, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "runs" / "run_1"
    for number in (1, 2):
        add_step(database, number, number)
    mirror.sync("run_1")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    spoil(folder)
    mirror.sync("run_1")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_that_fell_behind_is_known(
    database: Database, mirror: RunMirror, tmp_path: Path
) -> None:
    def names() -> list[str]:
        return [run.id for run in mirror.stale()]

    assert names() == ["run_1"]
    mirror.sync("run_1")
    assert names() == []
    database.submit(lambda c: finish(c, "run_1", RunState.DONE, "proc_1", 5, result=1)).result()
    assert names() == ["run_1"]
    mirror.sync("run_1")
    assert names() == []
    (tmp_path / "runs" / "run_1" / "run.json").write_bytes(b"[]")
    assert names() == ["run_1"]


def test_two_who_mirror_at_once_do_not_double_a_line(
    database: Database, mirror: RunMirror, tmp_path: Path
) -> None:
    other = RunMirror(database, tmp_path / "runs", NoFaults())
    for number in range(1, 30):
        add_step(database, number, number)
        threads = [
            threading.Thread(target=each.sync, args=("run_1",)) for each in (mirror, other, mirror)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told(tmp_path / "runs" / "run_1") == [f"step/{n}" for n in range(1, number + 1)]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "text is not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_torn_line_is_not_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert read_whole_lines(path) == []
    path.write_bytes("one\u2028still one\ntwo\nthr".encode())
    assert read_whole_lines(path) == ["one\u2028still one", "two"]


def test_a_folder_tells_nothing_that_happened_after_what_it_points_to_was_copied(
    database: Database, mirror: RunMirror, tmp_path: Path
) -> None:
    add_step(database, 1, "one")
    copied: list[str] = []

    def copy_receipts() -> None:
        copied.extend(row["key"] for row in database.read(_steps))
        add_step(database, 2, "two")
        database.submit(lambda c: finish(c, "run_1", RunState.DONE, "proc_1", 9)).result()

    mirror.sync("run_1", first=copy_receipts)
    assert told(tmp_path / "runs" / "run_1") == copied == ["step/1"]
    # Killed here, the next start sees that the folder is behind, and copies all of it again.
    assert [run.id for run in mirror.stale()] == ["run_1"]
    mirror.sync("run_1")
    assert told(tmp_path / "runs" / "run_1") == ["step/1", "step/2"]
    assert mirror.stale() == []


def _steps(connection: Any) -> list[Any]:
    return connection.execute("SELECT key FROM steps ORDER BY seq").fetchall()

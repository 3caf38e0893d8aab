"""Nothing in Callboard's own folder is reached through a link, checked before or opened later."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.core.errors import CallboardError
from callboard.store.files import (
    append_durably,
    locked_folder,
    open_emptied,
    read_whole_lines,
    write_atomically,
    write_new,
)
from callboard.store.kept import KeptFolderUnsafe, check_kept_folder
from callboard.store.reading import FileRefused
from callboard.store.sqlite.database import SqliteDatabase

FOLDERS = ["audit", "audit/sessions", "backups", "backups/files", "issues", "local", "locks",
           "local/pending", "local/vectors", "prompts", "recipes", "runs", "sessions"]  # fmt: skip
FILES = [f"{name}{end}" for name in ("callboard.db", "kitchen.db") for end in ("", "-wal", "-shm")]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def lock(path: Path, kept: Path) -> None:
    with locked_folder(path.parent, within=kept):
        write_atomically(path, b"x", within=kept)


WRITES: dict[str, Callable[[Path, Path], object]] = {
    "write": lambda path, kept: write_atomically(path, b"x", within=kept),
    "write new": lambda path, kept: write_new(path, b"x", within=kept, kept=kept),
    "append": lambda path, kept: append_durably(path, b"x", within=kept),
    "empty": lambda path, kept: os.close(open_emptied(path, within=kept)),
    "lock": lock,
}


def test_a_folder_as_it_should_be_passes_and_so_does_none(kept: Path) -> None:
    check_kept_folder(kept / "none")
    check_kept_folder(kept)
    for name in FOLDERS:
        (kept / name).mkdir(parents=True)
    for name in FILES:
        (kept / name).touch()
    check_kept_folder(kept)


@pytest.mark.parametrize("target", ["outside", "kept/elsewhere", "nowhere"])
@pytest.mark.parametrize("name", [*FOLDERS, *FILES])
def test_a_link_is_named_with_where_it_leads(kept: Path, name: str, target: str) -> None:
    path = kept / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(kept.parent / target)
    with pytest.raises(KeptFolderUnsafe) as refused:
        check_kept_folder(kept)
    assert str(path) in refused.value.message
    assert target in refused.value.message
    assert refused.value.fix


@pytest.mark.parametrize("name", [*FOLDERS, *FILES])
def test_a_pipe_is_named(kept: Path, name: str) -> None:
    (kept / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(kept / name)
    with pytest.raises(KeptFolderUnsafe, match="named pipe"):
        check_kept_folder(kept)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("at", ["runs", "runs/run_1", "."])
def test_no_write_goes_through_a_link_that_appeared_later(kept: Path, at: str, write: str) -> None:
    outside = kept.parent / "outside"
    if at == ".":
        kept.rmdir()
    (kept / at).parent.mkdir(parents=True, exist_ok=True)
    (kept / at).symlink_to(outside)
    with pytest.raises(FileRefused, match="link"):
        WRITES[write](kept / "runs" / "run_1" / "run.json", kept)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("write", ["append", "empty"])
def test_a_link_in_place_of_the_file_is_refused(kept: Path, write: str) -> None:
    (kept.parent / "outside" / "file").write_text("outside")
    (kept / "file").symlink_to(kept.parent / "outside" / "file")
    with pytest.raises(FileRefused):
        WRITES[write](kept / "file", kept)
    assert (kept.parent / "outside" / "file").read_text() == "outside"


def test_a_link_in_place_of_the_file_is_replaced_by_a_whole_write(kept: Path) -> None:
    (kept.parent / "outside" / "file").write_text("outside")
    (kept / "file").symlink_to(kept.parent / "outside" / "file")
    write_atomically(kept / "file", b"new", within=kept)
    assert not (kept / "file").is_symlink()
    assert (kept.parent / "outside" / "file").read_text() == "outside"
    with pytest.raises(FileRefused):
        (kept / "more").symlink_to(kept.parent / "outside" / "file")
        read_whole_lines(kept / "more", within=kept)


@pytest.mark.parametrize("name", ["../up", "runs/../../up", "a/../b"])
def test_a_name_never_leads_upwards(kept: Path, name: str) -> None:
    with pytest.raises((FileRefused, ValueError)):
        write_atomically(kept / name / "file", b"x", within=kept)
    assert not (kept.parent / "up").exists()


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
def test_a_database_that_became_a_link_is_not_opened(kept: Path, end: str) -> None:
    SqliteDatabase.open(kept / "callboard.db").close()
    other = kept.parent / "outside" / "other.db"
    sqlite3.connect(other).close()
    part = kept / f"callboard.db{end}"
    part.unlink(missing_ok=True)
    part.symlink_to(other)
    before = other.read_bytes()
    with pytest.raises(CallboardError, match="link"):
        SqliteDatabase.open(kept / "callboard.db")
    assert other.read_bytes() == before

"""A regular file of the expected size in the expected folder is read; all else is refused."""

import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

from callboard.store.reading import (
    FileRefused,
    Refusal,
    lines_bounded,
    open_bounded,
    read_bounded,
)

LIMIT = 1_000


def refused(path: Path, within: Path | None = None, *, follow_links: bool = True) -> FileRefused:
    with pytest.raises(FileRefused) as caught:
        read_bounded(path, limit_bytes=LIMIT, within=within, follow_links=follow_links)
    assert caught.value.fix
    assert str(path) in str(caught.value)
    return caught.value


def test_a_file_up_to_the_limit_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * LIMIT)
    assert read_bounded(path, limit_bytes=LIMIT) == b"x" * LIMIT
    path.write_bytes(b"x" * (LIMIT + 1))
    assert refused(path).why is Refusal.TOO_LARGE
    assert str(LIMIT) in refused(path).message


@pytest.mark.parametrize("name", ["none", "none/at/all", "file/below"])
def test_what_is_not_there_is_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    for within in (None, tmp_path):
        for follow_links in (True, False):
            with pytest.raises(FileNotFoundError):
                read_bounded(
                    tmp_path / name, limit_bytes=LIMIT, within=within, follow_links=follow_links
                )


def test_pipes_sockets_folders_and_devices_are_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    listening = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    try:
        os.chdir(tmp_path)  # the name of a socket has to be short
        listening.bind("socket")
    finally:
        os.chdir(here)
    for name, word in (("pipe", "pipe"), ("folder", "folder"), ("socket", "socket")):
        for within in (None, tmp_path):
            told = refused(tmp_path / name, within)
            assert told.why is Refusal.NOT_REGULAR
            assert word in told.message
    listening.close()
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert refused(tmp_path / "zero").why is Refusal.NOT_REGULAR
    assert refused(tmp_path / "zero", tmp_path).why is Refusal.LINK


def test_a_link_is_followed_as_far_as_the_folder_it_must_stay_in(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside / "deep", outside):
        folder.mkdir(parents=True)
        (folder / "file").write_text(folder.name)
    (inside / "near").symlink_to("deep/file")
    (inside / "far").symlink_to(outside / "file")
    (inside / "far_folder").symlink_to(outside)
    (inside / "loop").symlink_to("loop")
    assert read_bounded(inside / "near", limit_bytes=LIMIT, within=inside) == b"deep"
    assert read_bounded(inside / "far", limit_bytes=LIMIT) == b"outside"
    for name in ("far", "far_folder/file", "loop"):
        assert refused(inside / name, inside).why is Refusal.LINK
    for name in ("near", "far", "far_folder/file", "loop"):
        assert refused(inside / name, inside, follow_links=False).why is Refusal.LINK


def test_a_folder_that_must_hold_no_links_may_not_be_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "kept").symlink_to("real")
    kept = tmp_path / "kept"
    assert read_bounded(kept / "file", limit_bytes=LIMIT, within=kept) == b"x"
    assert refused(kept / "file", kept, follow_links=False).why is Refusal.LINK


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    # Its size says nothing: there is always more.
    assert refused(Path("/proc/self/smaps")).why is Refusal.TOO_LARGE


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_closed_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("x")
    (tmp_path / "closed").chmod(0)
    assert refused(tmp_path / "closed").why is Refusal.CLOSED


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_folder_that_may_only_be_passed_is_passed(tmp_path: Path) -> None:
    folder = tmp_path / "passing"
    folder.mkdir()
    (folder / "file").write_text("x")
    folder.chmod(0o311)
    try:
        assert read_bounded(folder / "file", limit_bytes=LIMIT) == b"x"
    finally:
        folder.chmod(0o755)


def test_lines_are_bounded_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n" + b"x" * LIMIT)
    found = lines_bounded(path, limit_bytes=100)
    assert (next(found), next(found)) == (b"one\n", b"two\n")
    with pytest.raises(FileRefused):
        next(found)


def test_a_file_swapped_for_a_link_again_and_again_never_leads_out(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("outside")
    path = inside / "file"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for make in (lambda: path.write_text("inside"), lambda: path.symlink_to(outside)):
                path.unlink(missing_ok=True)
                make()

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            try:
                assert read_bounded(path, limit_bytes=LIMIT, within=inside) in (b"inside", b"")
            except (FileRefused, FileNotFoundError):
                continue
    finally:
        stop.set()
        thread.join()


def test_nothing_stays_open_after_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * (LIMIT + 1))
    os.mkfifo(tmp_path / "pipe")
    for _ in range(20):
        refused(tmp_path / "big", tmp_path)
        refused(tmp_path / "pipe", tmp_path)
        with pytest.raises(FileNotFoundError):
            open_bounded(tmp_path / "none")
    assert open_within(tmp_path) == []


def open_within(folder: Path) -> list[str]:
    """Return what this process has open in a folder; what other tests left open does not count."""
    found: list[str] = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{each}"))
    return [each for each in found if each.startswith(str(folder))]

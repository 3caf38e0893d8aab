"""No path, however it is written, leads out of the project."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callboard.core.errors import CallboardError
from callboard.tools import FileMissing, PathOutsideProject, ProjectFiles, Unreadable
from callboard.tools.files.confinement import Confinement

OUTSIDE_TEXT = "the outside"


@contextmanager
def world() -> Iterator[tuple[Path, Path]]:
    """A project full of traps, and a folder beside it that must stay untouched."""
    with tempfile.TemporaryDirectory() as made:
        base = Path(os.path.realpath(made))
        root, outside = base / "project", base / "project-evil"
        for folder in (root / "a" / "b", root / ".callboard" / "audit", root / ".git", outside):
            folder.mkdir(parents=True)
        (outside / "secret.md").write_text(OUTSIDE_TEXT)
        (root / ".callboard/audit/secret.key").write_text(OUTSIDE_TEXT)
        (root / ".git/config").write_text(OUTSIDE_TEXT)
        (root / "a/in.md").write_text("inside")
        (root / "a/b/deep.md").write_text("inside")
        links = {
            "out": outside,
            "out_file": outside / "secret.md",
            "relative_out": Path("../project-evil"),
            "in": root / "a",
            "own": root / ".callboard",
            "a/up": Path(".."),
            "a/up_twice": Path("../.."),
            "chain": root / "out",
            "loop": root / "loop",
            "dangling": root / "nowhere",
            "dangling_out": outside / "nowhere",
        }
        for name, target in links.items():
            (root / name).symlink_to(target)
        yield root, outside


PIECES = [
    "..", ".", "a", "b", "in.md", "deep.md", "out", "out_file", "relative_out", "in", "own", "up",
    "up_twice", "chain", "loop", "dangling", "dangling_out", "secret.md", "secret.key", "audit",
    ".callboard", ".CALLBOARD", ".callboard.", ".git", "config", "project", "project-evil", "new",
    "", " ", "~", "\0", "\\..", "..\\..", "%2e%2e", "․․", "nowhere", "x" * 300,  # noqa: RUF001
]  # fmt: skip
PATHS = st.one_of(
    st.tuples(
        st.sampled_from(["", "/", "//", "./", "../", "ROOT/", "OUTSIDE/", "ROOT-evil/"]),
        st.lists(st.sampled_from(PIECES), max_size=6),
    ).map(lambda pair: pair[0] + "/".join(pair[1])),
    st.text(max_size=30),
    st.text(alphabet="./\\a~\0", max_size=20),
)


def placed(path: str, root: Path, outside: Path) -> str:
    for mark, real in (("ROOT", root), ("OUTSIDE", outside)):
        if path.startswith(mark):
            return str(real) + path[len(mark) :]
    return path


@pytest.mark.req("CR-36")
@given(PATHS)
@example("ROOT-evil/secret.md")
@example("in/up/project-evil/secret.md")
@example("a/up_twice/project-evil/secret.md")
def test_no_path_reads_or_writes_anything_outside(path: str) -> None:
    with world() as (root, outside):
        files = ProjectFiles(root, root / ".callboard")
        given_path = placed(path, root, outside)
        with suppress(CallboardError):
            assert OUTSIDE_TEXT not in files.read_bytes(given_path).decode()
        with suppress(CallboardError, OSError):
            files.write_text(given_path, "written by a tool")
        assert sorted(os.listdir(outside)) == ["secret.md"]
        assert sorted(os.listdir(outside.parent)) == ["project", "project-evil"]
        assert (outside / "secret.md").read_text() == OUTSIDE_TEXT
        assert (root / ".callboard/audit/secret.key").read_text() == OUTSIDE_TEXT
        assert os.listdir(root / ".git") == ["config"]
        assert (root / ".git/config").read_text() == OUTSIDE_TEXT
        assert not list(root.rglob("*.tmp"))


@given(PATHS)
def test_what_is_opened_lies_where_it_was_resolved(path: str) -> None:
    with world() as (root, outside):
        confinement = Confinement(root)
        try:
            opened = confinement.open_file(confinement.resolve(placed(path, root, outside)))
        except CallboardError:
            return
        real = Path(os.readlink(f"/proc/self/fd/{opened}"))
        os.close(opened)
        assert real.is_relative_to(root)
        assert not real.is_relative_to(root / ".callboard")


@given(st.text(max_size=12))
def test_listing_never_leaves_the_project(pattern: str) -> None:
    with world() as (root, _):
        listed = {each.path for each in ProjectFiles(root).list_files(pattern)}
        assert listed <= {"a/in.md", "a/b/deep.md"}


@pytest.mark.req("CR-36")
@pytest.mark.parametrize(
    "path",
    [
        "../project-evil/secret.md", "a/../../project-evil/secret.md", "a/../a/in.md",
        "/etc/passwd", "out/secret.md", "out_file", "relative_out/secret.md", "chain/secret.md",
        "a/up_twice/project-evil/secret.md", "own/audit/secret.key", ".callboard/audit/secret.key",
        ".Callboard/audit/secret.key", ".git/config", "a\0b", "dangling_out", "\ud800",
    ],
)  # fmt: skip
def test_each_way_out_is_refused_by_name(path: str) -> None:
    with world() as (root, _):
        files = ProjectFiles(root, root / ".callboard")
        for attempt in (files.read_bytes, files.resolve, files.sha256):
            with pytest.raises(PathOutsideProject) as caught:
                attempt(path)
            assert caught.value.code == "path_outside_project"
        with pytest.raises(PathOutsideProject):
            files.write_text(path, "x")


def test_links_and_absolute_paths_within_the_project_are_fine() -> None:
    with world() as (root, _):
        files = ProjectFiles(root, root / ".callboard")
        for path in ("in/in.md", "a/up/a/in.md", str(root / "a/in.md"), "./a//in.md"):
            assert files.read_text(path).text == "inside"
        assert files.resolve(str(root / "a/in.md")) == "a/in.md"


def test_a_project_reached_through_a_link_works() -> None:
    with world() as (root, _):
        door = root.parent / "door"
        door.symlink_to(root)
        files = ProjectFiles(door)
        assert files.read_text(str(door / "a/in.md")).text == "inside"
        assert files.read_text(str(root / "a/in.md")).text == "inside"


def test_devices_pipes_and_folders_are_not_read() -> None:
    with world() as (root, _):
        os.mkfifo(root / "pipe")
        (root / "null").symlink_to("/dev/null")
        files = ProjectFiles(root, root / ".callboard")
        for path in ("pipe", "a", "."):
            with pytest.raises(Unreadable, match="not a regular file"):
                files.read_bytes(path)
        with pytest.raises(PathOutsideProject):
            files.read_bytes("null")
        with pytest.raises(Unreadable):
            files.write_text("pipe", "x")
        with pytest.raises(Unreadable):
            files.write_text("a", "x")
        assert "pipe" not in {each.path for each in files.list_files()}


@pytest.mark.parametrize("swapped", ["a", "a/b"])
def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(swapped: str) -> None:
    with world() as (root, outside):
        confinement = Confinement(root)
        place = confinement.resolve("a/b/deep.md")
        (outside / "b").mkdir()
        (outside / "b/deep.md").write_text(OUTSIDE_TEXT)
        (outside / "deep.md").write_text(OUTSIDE_TEXT)
        os.rename(root / swapped, root / "moved")
        (root / swapped).symlink_to(outside)
        with pytest.raises(PathOutsideProject, match="link appeared"):
            confinement.open_file(place)


def test_a_file_swapped_for_a_link_after_the_check_is_not_followed() -> None:
    with world() as (root, outside):
        confinement = Confinement(root)
        place = confinement.resolve("a/in.md")
        (root / "a/in.md").unlink()
        (root / "a/in.md").symlink_to(outside / "secret.md")
        with pytest.raises(PathOutsideProject):
            confinement.open_file(place)


def test_a_loop_of_links_is_refused() -> None:
    with world() as (root, _), pytest.raises((PathOutsideProject, FileMissing, Unreadable)):
        ProjectFiles(root).read_bytes("loop/in.md")

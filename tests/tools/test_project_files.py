"""Reading, listing and writing the user's files."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.canonical import digest_bytes
from callboard.tools import FileChanged, FileMissing, ProjectFiles, TooManyFiles, Unreadable
from callboard.tools.files.glob import compile_glob


def test_a_missing_file_comes_with_up_to_three_close_paths(root: Path) -> None:
    files = ProjectFiles(root, root / ".callboard")
    with pytest.raises(FileMissing) as caught:
        files.read_text("Story/on.md")
    assert caught.value.code == "file_not_found"
    assert caught.value.context["near"][0] == "Story/one.md"
    for name in ("oneA.md", "oneB.md", "oneC.md"):
        (root / "Story" / name).write_text("x")
    with pytest.raises(FileMissing) as caught:
        files.read_text("Story/one1.md")
    assert len(caught.value.context["near"]) == 3
    with pytest.raises(FileMissing) as caught:
        files.read_text("completely/different.xyz")
    assert caught.value.context["near"] == []


def test_a_file_in_the_wrong_folder_is_suggested(root: Path) -> None:
    (root / "Compendium").mkdir()
    (root / "Compendium/CHAR-kael.md").write_text("grey eyes")
    with pytest.raises(FileMissing) as caught:
        ProjectFiles(root).read_text("char-kael.md")
    assert caught.value.context["near"] == ["Compendium/CHAR-kael.md"]


def test_what_is_no_text_is_unreadable(root: Path) -> None:
    (root / "image.md").write_bytes(b"ok \xff\xfe")
    with pytest.raises(Unreadable, match="byte 3") as caught:
        ProjectFiles(root).read_text("image.md")
    assert caught.value.code == "unreadable"


def test_a_file_without_permission_or_too_large_is_unreadable(root: Path) -> None:
    (root / "large.md").write_text("x" * 11)
    files = ProjectFiles(root, max_read_bytes=10)
    with pytest.raises(Unreadable, match="larger than 10 bytes"):
        files.read_bytes("large.md")
    if os.geteuid() != 0:
        (root / "closed.md").write_text("x")
        (root / "closed.md").chmod(0)
        with pytest.raises(Unreadable, match="Permission denied"):
            files.read_bytes("closed.md")


def test_a_byte_order_mark_is_dropped_and_line_ends_are_kept(root: Path) -> None:
    (root / "dos.md").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    file = ProjectFiles(root).read_text("dos.md")
    assert file.text == "a\r\nb\r\n"
    assert file.sha256 == digest_bytes(b"\xef\xbb\xbfa\r\nb\r\n")


def test_listing_is_sorted_and_leaves_hidden_files_out(root: Path) -> None:
    (root / ".env").write_text("KEY=1")
    (root / ".hidden").mkdir()
    (root / ".hidden/x.md").write_text("x")
    files = ProjectFiles(root, root / ".callboard")
    assert [each.path for each in files.list_files()] == [
        "Story/one.md",
        "Story/two.md",
        "notes.txt",
    ]
    assert [each.path for each in files.list_files("**/*.md")] == ["Story/one.md", "Story/two.md"]
    assert [each.path for each in files.list_files(suffixes=(".txt",))] == ["notes.txt"]
    assert files.list_files()[2].size_bytes == 9


def test_too_many_files_is_an_error(root: Path) -> None:
    with pytest.raises(TooManyFiles) as caught:
        ProjectFiles(root, max_files=2).list_files()
    assert caught.value.code == "too_many_files"


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "s/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "s/t/a.md", True),
        ("s/**", "s/t/a.md", True),
        ("s/**", "st/a.md", False),
        ("s/**/a.md", "s/a.md", True),
        ("?.md", "a.md", True),
        ("?.md", "/.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("[!a]x", "/x", False),
        ("[a-c].md", "b.md", True),
        ("[z-a].md", "b.md", False),
        ("a.md", "aXmd", False),
        ("[", "[", True),
        ("./a.md", "a.md", True),
    ],
)
def test_glob(pattern: str, path: str, matches: bool) -> None:
    assert compile_glob(pattern)(path) is matches


@given(st.text(alphabet="ab[]!-^*?/\\.", max_size=12), st.text(max_size=8))
def test_every_text_is_a_pattern(pattern: str, path: str) -> None:
    compile_glob(pattern)(path)


def test_a_write_replaces_the_file_and_keeps_what_was_there(root: Path) -> None:
    files = ProjectFiles(root, root / ".callboard")
    before = (root / "Story/one.md").read_bytes()
    (root / "Story/one.md").chmod(0o640)
    written = files.write_text("Story/one.md", "# New\n")
    assert (root / "Story/one.md").read_text() == "# New\n"
    assert (root / "Story/one.md").stat().st_mode & 0o777 == 0o640
    assert written.previous_sha256 == digest_bytes(before)
    assert written.sha256 == digest_bytes(b"# New\n")
    assert written.backup is not None
    assert written.backup.startswith(".callboard/backups/files/")
    assert written.backup.endswith("/Story/one.md")
    assert (root / written.backup).read_bytes() == before


def test_every_version_that_was_replaced_is_kept(root: Path) -> None:
    files = ProjectFiles(root, root / ".callboard")
    backups = [files.write_text("draft.md", text).backup for text in ("one", "two", "three", "two")]
    assert backups[0] is None
    kept = [(root / backup).read_text() for backup in backups[1:] if backup]
    assert kept == ["one", "two", "three"]


def test_new_folders_are_made(root: Path) -> None:
    written = ProjectFiles(root, root / ".callboard").write_text("Story/Scenes/SCN-1.md", "text")
    assert (root / "Story/Scenes/SCN-1.md").read_text() == "text"
    assert (written.path, written.backup) == ("Story/Scenes/SCN-1.md", None)


def test_a_write_through_a_link_inside_reaches_the_real_file(root: Path) -> None:
    (root / "latest.md").symlink_to("Story/one.md")
    written = ProjectFiles(root, root / ".callboard").write_text("latest.md", "new")
    assert (root / "latest.md").is_symlink()
    assert (root / "Story/one.md").read_text() == "new"
    assert written.path == "latest.md"


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(root: Path) -> None:
    files = ProjectFiles(root, root / ".callboard")
    seen = files.read_text("notes.txt").sha256
    (root / "notes.txt").write_text("Buy paper.\n")
    with pytest.raises(FileChanged) as caught:
        files.write_text("notes.txt", "Buy nothing.\n", expected_sha256=seen)
    assert caught.value.code == "file_changed"
    assert (root / "notes.txt").read_text() == "Buy paper.\n"
    with pytest.raises(FileChanged):
        files.write_text("gone.txt", "x", expected_sha256=seen)


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(root.rglob("*"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            ProjectFiles(root, root / ".callboard").write_text("notes.txt", "new")
    assert (root / "notes.txt").read_text() == "Buy ink.\n"
    assert [path for path in sorted(root.rglob("*")) if path.is_file()] == [
        path for path in before if path.is_file()
    ]


def test_an_edit_that_comes_in_between_is_not_lost(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def meanwhile(opened: int) -> None:
        (root / "notes.txt").write_text("The user saved this just now.\n")
        real(opened)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", meanwhile)
        with pytest.raises(FileChanged, match="somebody else"):
            ProjectFiles(root, root / ".callboard").write_text("notes.txt", "new")
    assert (root / "notes.txt").read_text() == "The user saved this just now.\n"
    assert not list(root.glob(".callboard-*"))

"""ProjectFiles: reading, listing and writing the user's files. Refuses every way out of them.

A write replaces a file in one motion and keeps a copy of what was there, so the user can undo it.
"""

import difflib
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.tools.errors import (
    FileChanged,
    FileMissing,
    PathOutsideProject,
    ToolError,
    TooManyFiles,
    Unreadable,
)
from callboard.tools.files.confinement import (
    Confinement,
    Place,
    not_a_file,
    open_regular,
)
from callboard.tools.files.glob import compile_glob

BACKUP_FOLDER: Final = ".callboard/backups/files"
TEXT_SUFFIXES: Final = (".md", ".markdown", ".txt")
_SUGGESTION_POOL: Final = 2_000


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of the project, not yet read."""

    path: str
    size_bytes: int
    modified_ns: int = 0
    # A link whose target is not in the project: listed on request, never read.
    leads_out: bool = False


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was when it was read."""

    path: str
    text: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file as it was left; `backup` is where the content it replaced is kept."""

    path: str
    sha256: str
    size_bytes: int
    previous_sha256: str | None = None
    backup: str | None = None


class ProjectFiles:
    """The files of one project, as far as tools may touch them."""

    def __init__(
        self, root: Path, *, max_read_bytes: int = 5_000_000, max_files: int = 20_000
    ) -> None:
        """Take the project folder and how much a single call may go through."""
        self._confinement = Confinement(root)
        self._max_read_bytes = max_read_bytes
        self._max_files = max_files

    @property
    def root(self) -> Path:
        """The project folder, without links."""
        return self._confinement.root

    def resolve(self, path: str) -> str:
        """Return a path as the project writes it, or refuse it; the file need not exist."""
        return self._confinement.resolve(path).path

    def read_bytes(self, path: str) -> bytes:
        """Return the content of a file."""
        place = self._confinement.resolve(path)
        try:
            opened = self._confinement.open_file(place)
        except FileMissing:
            raise self._missing(place.path) from None
        return self._drain(opened, place.path)

    def read_text(self, path: str) -> TextFile:
        """Return a UTF-8 text; a byte order mark is dropped, line ends are kept."""
        data = self.read_bytes(path)
        return TextFile(self.resolve(path), decode(path, data), digest_bytes(data), len(data))

    def sha256(self, path: str) -> str | None:
        """Return the hash of a file, or None if it is not there."""
        try:
            opened = self._confinement.open_file(place := self._confinement.resolve(path))
        except FileMissing:
            return None
        return digest_bytes(self._drain(opened, place.path))

    def list_files(
        self, pattern: str = "**", *, suffixes: tuple[str, ...] = (), with_links_out: bool = False
    ) -> tuple[ListedFile, ...]:
        """Return the files that match, sorted by path; hidden files and folders are left out."""
        matches = compile_glob(pattern).match
        found: list[ListedFile] = []
        for number, listed in enumerate(self._walk(), start=1):
            if number > self._max_files:
                raise TooManyFiles(
                    f"The project holds more than {self._max_files} files",
                    fix="Open a smaller folder as the project.",
                )
            if listed.leads_out and not with_links_out:
                continue
            if matches(listed.path) and listed.path.lower().endswith(suffixes or ("",)):
                found.append(listed)
        return tuple(sorted(found, key=lambda listed: listed.path))

    def write_text(
        self, path: str, text: str, *, expected_sha256: str | None = None
    ) -> WrittenFile:
        """Put a text in place of whatever is there, in one motion and with a backup."""
        place = self._confinement.resolve(path)
        if not place.parts or path.endswith("/"):
            raise not_a_file(path)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ToolError(f"The text for {path} cannot be written as UTF-8: {error}") from None
        folder = self._confinement.open_folder(place.parts[:-1], create=True)
        try:
            old, before = self._current(place, folder)
            _expect(place.path, old, expected_sha256)
            backup = None if old is None else self._back_up(place, old, before)
            temporary = _write_temporary(folder, data, before)
            try:
                _expect_untouched(place, folder, before)
                os.rename(temporary, place.parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)
        finally:
            os.close(folder)
        previous = None if old is None else digest_bytes(old)
        return WrittenFile(place.path, digest_bytes(data), len(data), previous, backup)

    def _current(self, place: Place, folder: int) -> tuple[bytes | None, os.stat_result | None]:
        try:
            opened = open_regular(place.parts[-1], folder, place.path)
        except FileMissing:
            return None, None
        before = os.fstat(opened)
        return self._drain(opened, place.path), before

    def _drain(self, opened: int, path: str) -> bytes:
        with os.fdopen(opened, "rb") as stream:
            data = stream.read(self._max_read_bytes + 1)
        if len(data) > self._max_read_bytes:
            raise Unreadable(
                f"{path} is larger than {self._max_read_bytes} bytes",
                fix="Split the file.",
                path=path,
            )
        return data

    def _back_up(self, place: Place, old: bytes, before: os.stat_result | None) -> str:
        # Named by content: the same text is kept once, and repeating a write adds nothing.
        relative = "/".join((BACKUP_FOLDER, digest_bytes(old)[:16], *place.parts))
        target = self.root / relative
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                temporary = _write_temporary(folder, old, before)
                os.rename(temporary, target.name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            finally:
                os.close(folder)
        return relative

    def _walk(self) -> Iterator[ListedFile]:
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            try:
                entries = list(os.scandir(self.root / prefix))
            except OSError:
                # A folder that vanished or is closed to us has no files to offer.
                continue
            for entry in entries:
                if entry.name.startswith(".") or not _is_text(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                elif (listed := self._look(prefix + entry.name, entry)) is not None:
                    yield listed

    def _look(self, path: str, entry: "os.DirEntry[str]") -> ListedFile | None:
        try:
            if entry.is_symlink():
                self._confinement.resolve(path)
            status = entry.stat()
        except OSError:
            return None
        except PathOutsideProject:
            return ListedFile(path, 0, leads_out=True)
        if not stat.S_ISREG(status.st_mode):
            return None
        return ListedFile(path, status.st_size, status.st_mtime_ns)

    def _missing(self, path: str) -> FileMissing:
        known: list[str] = []
        for listed in self._walk():
            if listed.leads_out:
                continue
            known.append(listed.path)
            if len(known) >= _SUGGESTION_POOL:
                break
        near = _close_paths(path, known)
        hint = f"Did you mean {', '.join(near)}?" if near else "List the files first."
        return FileMissing(f"There is no {path} in the project", fix=hint, path=path, near=near)


def decode(path: str, data: bytes) -> str:
    """Read bytes as UTF-8 text, or say where they are not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"{path} is not UTF-8 text (byte {error.start})",
            fix="Save the file as UTF-8.",
            path=path,
        ) from None


def _close_paths(path: str, known: list[str]) -> list[str]:
    by_folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    near = difflib.get_close_matches(path.casefold(), by_folded, n=3, cutoff=0.6)
    if len(near) < 3:
        by_name: dict[str, list[str]] = {}
        for folded in sorted(by_folded):
            by_name.setdefault(folded.rpartition("/")[2], []).append(folded)
        wanted = path.casefold().rpartition("/")[2]
        for name in difflib.get_close_matches(wanted, by_name, n=3, cutoff=0.6):
            near.extend(each for each in by_name[name] if each not in near)
    return [by_folded[each] for each in near[:3]]


def _expect(path: str, old: bytes | None, expected_sha256: str | None) -> None:
    if expected_sha256 is None:
        return
    found = None if old is None else digest_bytes(old)
    if found != expected_sha256:
        raise FileChanged(
            f"{path} is not the file that was read: its sha256 is {found}",
            fix="Read it again, then write.",
            path=path,
            expected=expected_sha256,
            found=found,
        )


def _expect_untouched(place: Place, folder: int, before: os.stat_result | None) -> None:
    try:
        now = os.stat(place.parts[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if _identity(now) != _identity(before):
        raise FileChanged(
            f"{place.path} was changed by somebody else while it was being written",
            fix="Look at the file, then write again.",
            path=place.path,
        )


def _identity(status: os.stat_result | None) -> tuple[int, int, int] | None:
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _write_temporary(folder: int, data: bytes, like: os.stat_result | None) -> str:
    name = f".callboard-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(name, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as stream:
            if like is not None:
                os.fchmod(opened, stat.S_IMODE(like.st_mode))
            stream.write(data)
            stream.flush()
            os.fsync(opened)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    return name


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

"""ProjectFiles: reading, listing and writing the user's files. Refuses every way out of them.

A write replaces a file in one motion and keeps a copy of what was there, so the user can undo it.
"""

import difflib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.store.reading import FileRefused, drain
from callboard.tools.errors import (
    FileMissing,
    PathOutsideProject,
    ToolError,
    TooManyFiles,
    Unreadable,
)
from callboard.tools.files.confinement import Confinement, not_a_file, told_refusal
from callboard.tools.files.glob import compile_glob
from callboard.tools.files.writing import FileWriter, WrittenFile

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


class ProjectFiles:
    """The files of one project, as far as tools may touch them."""

    def __init__(
        self,
        root: Path,
        kept: Path | None = None,
        *,
        max_read_bytes: int = 5_000_000,
        max_files: int = 20_000,
    ) -> None:
        """Take the project folder, where Callboard keeps its own, and how much a call may read.

        Without a place of Callboard's own nothing can be replaced: there is nowhere to back it up.
        """
        self._confinement = Confinement(root)
        self._kept = kept
        self._max_read_bytes = max_read_bytes
        self._max_files = max_files
        self._writer = FileWriter(self._confinement, kept, max_read_bytes)

    @property
    def root(self) -> Path:
        """The project folder, without links."""
        return self._confinement.root

    @property
    def kept(self) -> Path | None:
        """Where Callboard keeps what it adds to this project, if that is known."""
        return self._kept

    def backup_of(self, path: str, sha256: str) -> str | None:
        """Return where a write keeps a file of this content; None if nothing is kept there."""
        return self._writer.backup_of(path, sha256)

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
        matches = compile_glob(pattern)
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

    def resolve_for_writing(self, path: str) -> str:
        """Return a path as the project writes it if a file may be written there, or refuse it."""
        return self._confinement.resolve_for_writing(path).path

    def write_text(
        self, path: str, text: str, *, expected_sha256: str | None = None
    ) -> WrittenFile:
        """Put a text in place of whatever is there, in one motion and with a backup."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ToolError(f"The text for {path} cannot be written as UTF-8: {error}") from None
        return self.write_bytes(path, data, expected_sha256=expected_sha256)

    def write_bytes(
        self,
        path: str,
        data: bytes,
        *,
        expected_sha256: str | None = None,
        is_derived: bool = False,
    ) -> WrittenFile:
        """Put bytes in place of whatever is there, in one motion.

        Of what is derived from other files, and can be made again, no backup is kept.
        """
        place = self._confinement.resolve_for_writing(path)
        if not place.parts or path.endswith("/"):
            raise not_a_file(path)
        return self._writer.write(place, data, expected_sha256, is_derived=is_derived)

    def move(self, old: str, new: str) -> bool:
        """Give a file another name, unless one of that name is there; say whether it was done."""
        source = self._confinement.resolve_for_writing(old)
        return self._writer.move(source, self._confinement.resolve_for_writing(new))

    def read_backup(self, backup: str) -> bytes | None:
        """Return what a write replaced, if it is still kept."""
        return self._writer.read_backup(backup)

    def _drain(self, opened: int, path: str) -> bytes:
        try:
            return drain(opened, path, limit_bytes=self._max_read_bytes)
        except FileRefused as refused:
            raise told_refusal(refused, path) from refused

    def _walk(self) -> Iterator[ListedFile]:
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            try:
                entries = _entries(self.root / prefix)
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


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    # Opened and read to its end in one call: a tool's thread may be stopped between any two
    # statements, and between opening and `with` the folder would stay open.
    return list(chain.from_iterable(map(os.scandir, (folder,))))

"""Writing one file of the project: replaced in one motion, with a copy of what was there.

Takes places that were found to be open to writing; opens no folder through a link.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.store.pending import prepared
from callboard.store.reading import FileRefused, drain, naming_links, opened_folder, read_bounded
from callboard.tools.errors import FileChanged, FileMissing, ToolError
from callboard.tools.files.confinement import Confinement, ProjectPlace, open_regular, told_refusal

_BACKUPS: Final = ("backups", "files")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file as it was left; `backup` is where the content it replaced is kept."""

    path: str
    sha256: str
    size_bytes: int
    previous_sha256: str | None = None
    backup: str | None = None


class FileWriter:
    """Writes below one folder; what is replaced is kept in Callboard's own folder."""

    def __init__(self, confinement: Confinement, kept: Path | None, limit_bytes: int) -> None:
        """Take where files are written, where backups are kept, and how large a file may be.

        Without a place for backups nothing is replaced.
        """
        self._confinement = confinement
        self._kept = kept
        self._limit_bytes = limit_bytes

    def write(
        self,
        place: ProjectPlace,
        data: bytes,
        expected_sha256: str | None = None,
        *,
        is_derived: bool = False,
    ) -> WrittenFile:
        """Put data in place of whatever is there; of what is derived no backup is kept."""
        where = self._confinement.root.joinpath(*place.parts[:-1])
        folder = self._confinement.open_folder(place.parts[:-1], create=True)
        try:
            old, before = (None, None) if is_derived else self._current(place, folder)
            _expect(place.path, old, expected_sha256)
            backup = None if old is None else self._back_up(place, old, before)
            mode = None if before is None else stat.S_IMODE(before.st_mode)
            with prepared(self._kept, where, folder, data, mode) as name:
                if not is_derived:
                    _expect_untouched(place, folder, before)
                os.rename(name, place.parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)
        previous = None if old is None else digest_bytes(old)
        return WrittenFile(place.path, digest_bytes(data), len(data), previous, backup)

    def move(self, old: ProjectPlace, new: ProjectPlace) -> bool:
        """Give a file another name, unless one of that name is there; say whether it was done."""
        try:
            source = self._confinement.open_folder(old.parts[:-1])
        except FileMissing:
            return False
        try:
            target = self._confinement.open_folder(new.parts[:-1], create=True)
            try:
                if not _exists(old.parts[-1], source) or _exists(new.parts[-1], target):
                    return False
                os.rename(old.parts[-1], new.parts[-1], src_dir_fd=source, dst_dir_fd=target)
                os.fsync(target)
                return True
            finally:
                os.close(target)
        finally:
            os.close(source)

    def backup_of(self, path: str, sha256: str) -> str | None:
        """Return where a write keeps a file of this content; None if nothing is kept there."""
        place = self._backup_path(path.split("/"), sha256)
        return self._told(place) if place is not None and place.is_file() else None

    def read_backup(self, backup: str) -> bytes | None:
        """Return what a write replaced, if it is still kept."""
        path = self._confinement.root / backup
        if self._kept is None or not path.is_relative_to(self._kept):
            return None
        try:
            return read_bounded(
                path, limit_bytes=self._limit_bytes, within=self._kept, follow_links=False
            )
        except FileNotFoundError:
            return None

    def _back_up(self, place: ProjectPlace, old: bytes, before: os.stat_result | None) -> str:
        target = self._backup_path(place.parts, digest_bytes(old))
        if target is None or self._kept is None:
            raise ToolError(
                f"{place.path} cannot be replaced: there is no place to keep what it holds",
                fix="Open the folder as a project first: `callboard init`.",
                path=place.path,
            )
        mode = None if before is None else stat.S_IMODE(before.st_mode)
        with naming_links(target), opened_folder(self._kept, target.parent, create=True) as folder:
            if not _is_there(target.name, folder):
                with prepared(self._kept, target.parent, folder, old, mode) as name:
                    os.rename(name, target.name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
        return self._told(target)

    def _backup_path(self, parts: Sequence[str], sha256: str) -> Path | None:
        # Named by content: the same text is kept once, and repeating a write adds nothing.
        return None if self._kept is None else self._kept.joinpath(*_BACKUPS, sha256[:16], *parts)

    def _told(self, target: Path) -> str:
        root = self._confinement.root
        return target.relative_to(root).as_posix() if target.is_relative_to(root) else str(target)

    def _current(
        self, place: ProjectPlace, folder: int
    ) -> tuple[bytes | None, os.stat_result | None]:
        try:
            opened = open_regular(place.parts[-1], folder, place.path)
        except FileMissing:
            return None, None
        before = os.fstat(opened)
        try:
            return drain(opened, place.path, limit_bytes=self._limit_bytes), before
        except FileRefused as error:
            raise told_refusal(error, place.path) from error


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _is_there(name: str, folder: int) -> bool:
    """Say whether a regular file is there; a link or a pipe in its place is replaced."""
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


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


def _expect_untouched(place: ProjectPlace, folder: int, before: os.stat_result | None) -> None:
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

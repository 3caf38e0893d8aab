"""Temporary files: noted down before they are made, so that what a killed process left is found.

A file is written beside the one it will replace, because only there a rename is one step on every
file system. Its folder is noted in `local/pending/` of Callboard's own folder until it is renamed.
Whoever writes holds that folder together with all others who write; whoever sweeps needs it alone,
so nothing that a living process is writing is ever removed.
"""

import contextlib
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Final

from callboard.store.reading import (
    FileRefused,
    drain,
    naming_links,
    open_beneath,
    open_folder,
    open_regular,
    opened_folder,
)

_PLACE: Final = ("local", "pending")
_TOKEN: Final = re.compile(r"[0-9a-f]{16}")
_LONGEST_PATH_BYTES: Final = 65_536
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@contextlib.contextmanager
def prepared(
    kept: Path | None, where: Path, folder: int, data: bytes, mode: int | None = None
) -> Generator[str]:
    """Hold data ready on the disk under a name in an open folder, to be renamed inside the block.

    `where` is the path of that folder. Not renamed, the file is gone when the block ends. Without
    a folder of Callboard's own it is not noted down anywhere.
    """
    noting = contextlib.nullcontext(_name(_token())) if kept is None else _noted(kept, where)
    with noting as name:
        try:
            _write(name, folder, data, mode)
            yield name
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def sweep(kept: Path, root: Path) -> int:
    """Remove what killed processes left half-written; return how many files that were.

    Only below the project and Callboard's own folder: a note may be anybody's. While somebody is
    writing nothing is removed: another time will do.
    """
    try:
        with opened_folder(kept, kept / _PLACE[0]) as local:
            notes = open_beneath(_PLACE[1], os.O_RDONLY | os.O_DIRECTORY, local)
    except OSError:
        # Nothing was ever noted here, or it is not ours to look at.
        return 0
    try:
        fcntl.flock(notes, fcntl.LOCK_EX | fcntl.LOCK_NB)
        roots = (kept.resolve(), root.resolve())
        tokens = [token for token in os.listdir(notes) if _TOKEN.fullmatch(token)]
        return sum(_remove(token, notes, roots) for token in tokens)
    except OSError:
        return 0
    finally:
        os.close(notes)


@contextlib.contextmanager
def _noted(kept: Path, where: Path) -> Generator[str]:
    with naming_links(kept.joinpath(*_PLACE)):
        notes = open_folder(kept, _PLACE, create=True)
    try:
        fcntl.flock(notes, fcntl.LOCK_SH)
        token = _token()
        note = open_beneath(token, _NEW, notes)
        try:
            os.write(note, os.fsencode(where.absolute()))
        finally:
            os.close(note)
        try:
            yield _name(token)
        finally:
            os.unlink(token, dir_fd=notes)
    finally:
        os.close(notes)


def _write(name: str, folder: int, data: bytes, mode: int | None) -> None:
    opened = open_beneath(name, _NEW, folder, 0o666 if mode is None else mode)
    with os.fdopen(opened, "wb") as stream:
        if mode is not None:
            os.fchmod(opened, mode)
        stream.write(data)
        stream.flush()
        os.fsync(opened)


def _remove(token: str, notes: int, roots: tuple[Path, ...]) -> int:
    try:
        noted = drain(open_regular(token, notes, token), token, limit_bytes=_LONGEST_PATH_BYTES)
    except FileRefused:
        return 0
    left = Path(os.fsdecode(noted)) / _name(token)
    found = 0
    with contextlib.suppress(OSError, ValueError):
        is_ours = any(left.parent.resolve().is_relative_to(root) for root in roots)
        if is_ours and stat.S_ISREG(left.lstat().st_mode):
            left.unlink()
            found = 1
    os.unlink(token, dir_fd=notes)
    return found


def _token() -> str:
    return secrets.token_hex(8)


def _name(token: str) -> str:
    return f".callboard-{token}.tmp"

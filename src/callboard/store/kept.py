"""Callboard's own folder in a project, looked at before anything in it is used.

A repository can carry links. One in this folder would lead what Callboard reads and writes out of
the project, so none is accepted among the names it uses, wherever it leads. What lies deeper is
opened without following links by whoever opens it.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from callboard.core.errors import CallboardError, ErrorTier
from callboard.store.reading import kind_of

_FOLDERS: Final = (
    "",
    "audit",
    "audit/sessions",
    "backups",
    "backups/files",
    "issues",
    "knowledge",
    "local",
    "local/bible",
    "local/logs",
    "local/pending",
    "local/vectors",
    "locks",
    "prompts",
    "recipes",
    "runs",
    "sessions",
)
_DATABASES: Final = ("callboard.db", "kitchen.db")
_ENDINGS: Final = ("", "-wal", "-shm", "-journal")


class KeptFolderUnsafe(CallboardError):
    """Something in Callboard's own folder leads elsewhere or is not what it must be."""

    code = "kept_folder_unsafe"
    tier = ErrorTier.USER_FIXABLE


def check_kept_folder(folder: Path) -> None:
    """Refuse a folder in which a name that Callboard uses is a link or of another kind."""
    for name in _FOLDERS:
        _expect(folder / name, _leads_nowhere, "a folder")
    for name in _DATABASES:
        check_database(folder / name)


def check_database(path: Path) -> None:
    """Refuse a database of which a file is a link or no file at all, just before it is opened."""
    for ending in _ENDINGS:
        _expect(path.with_name(f"{path.name}{ending}"), stat.S_ISREG, "a regular file")


def _leads_nowhere(mode: int) -> bool:
    # A plain file in a folder's place leads nowhere and makes nobody wait: whoever needs the
    # folder says so.
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


def _expect(path: Path, is_right: Callable[[int], bool], wanted: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not is_right(mode):
        raise _unsafe(path, mode, wanted)


def _unsafe(path: Path, mode: int, wanted: str) -> KeptFolderUnsafe:
    if stat.S_ISLNK(mode):
        target = os.readlink(path).encode("utf-8", "replace").decode()[:200]
        told = f"{path} is a link to {target!r}, and what Callboard keeps may not lead elsewhere"
        fix = f"Remove the link; move {wanted} of your own into its place if you want to keep it."
    else:
        told = f"{path} is {kind_of(mode)}, where {wanted} is expected"
        fix = "Move it away; Callboard makes its own."
    return KeptFolderUnsafe(told, fix=fix, path=str(path))

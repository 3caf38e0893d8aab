"""Where the audit trail lies in a project, and how it is locked. Reads and writes nothing."""

import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.errors import InvalidInput

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,127}")


@dataclass(frozen=True, slots=True)
class Trail:
    """Where the audit trail of a project lies.

    The key lies out of the project's reach. An `adopted` one came with the project and was
    accepted by the user: what it signed counts, and nothing is signed with it any more.
    """

    folder: Path
    key: Path
    adopted: Path | None = None


def sessions_folder(audit: Path) -> Path:
    """Return the folder with one folder per audited session."""
    return audit / "sessions"


def mirror_path(audit: Path, session_id: str) -> Path:
    """Return where the receipts of a session are mirrored."""
    if not _SESSION_ID.fullmatch(session_id):
        raise InvalidInput(
            f"{session_id!r} is not a session id", fix="See `callboard sessions list`."
        )
    return sessions_folder(audit) / session_id / "tool_receipts.jsonl"


def mirrored_sessions(audit: Path) -> tuple[str, ...]:
    """Return the ids of the sessions that have a mirror, sorted."""
    found = sessions_folder(audit).glob("*/tool_receipts.jsonl")
    names = (path.parent.name for path in found)
    return tuple(sorted(name for name in names if _SESSION_ID.fullmatch(name)))


@contextmanager
def locked(opened: int) -> Generator[None]:
    """Hold an open file or folder against every other process and thread that does the same."""
    fcntl.flock(opened, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(opened, fcntl.LOCK_UN)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power loss."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

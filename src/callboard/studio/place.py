"""Place: where a project's rows are kept, in its file or on a server.

Where it is stands among the user's own data; how a server is reached, only in their own settings.
"""

import os
from pathlib import Path
from typing import Final

from callboard.core.errors import ErrorTier
from callboard.store.connection import StoreError
from callboard.store.files import write_atomically
from callboard.store.postgres.address import StoreAddress
from callboard.store.reading import FileRefused, read_bounded
from callboard.studio.project import Project

_MOST_BYTES: Final = 4_096


class StoreElsewhere(StoreError):
    """A project is kept on a server, and nobody says how that is reached."""

    code = "store_elsewhere"
    tier = ErrorTier.USER_FIXABLE


def has_database(project: Project) -> bool:
    """Say whether a project has a database, in a file or on a server."""
    return project.database.exists() or server_of(project) is not None


def server_of(project: Project) -> str | None:
    """Return the server a project is kept on, as it may be shown; None if it is kept in a file."""
    try:
        return read_bounded(_note(project), limit_bytes=_MOST_BYTES).decode()
    except (FileNotFoundError, FileRefused):
        return None


def keep_on(project: Project, place: Path | StoreAddress) -> None:
    """Remember where a project is kept: the address without its password, or nothing for a file."""
    if isinstance(place, Path):
        _note(project).unlink(missing_ok=True)
    elif server_of(project) != (told := str(place)):
        write_atomically(_note(project), told.encode())


def place_of(project: Project, url: str | None = None) -> Path | StoreAddress:
    """Return where a project is kept, or will be: a new one where the settings say.

    Only the user's own settings are asked: `url` is what is known of them already.
    """
    server = server_of(project)
    if server is None and (url is None or os.path.lexists(project.database)):
        return project.database
    if url is None:
        from callboard.studio.configuration import Configuration

        url = Configuration(project).settings.store.url
    if url is None:
        raise StoreElsewhere(
            f"{project.root} is kept on {server}, and no setting says how it is reached",
            fix="Set `store.url` in your own settings, or CALLBOARD_STORE_URL.",
        )
    return StoreAddress(url, project.standing.identity.name)


def _note(project: Project) -> Path:
    return project.standing.identity / "store"

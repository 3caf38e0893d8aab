"""Opening a project's database: the one place that all doors pass.

A pack's own database in a project carries a mark that says it was made here.

A database is opened only if it was made here or the user has adopted it. Refuses what came with
the folder, and what somebody laid into it later.

A number that nobody else knows stands in the file's header and among the user's own data. A file
that somebody laid in its place, by a pull for example, does not carry it.
"""

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import CallboardError, ErrorTier
from callboard.store.database import Database, Durability
from callboard.store.faults import FaultPoints
from callboard.store.files import write_atomically
from callboard.store.journal.runs import pause_unfinished
from callboard.store.kept import check_kept_folder
from callboard.store.ledger.entries import Seal
from callboard.store.presence import refuse_missing
from callboard.store.reading import FileRefused, naming_links, open_folder, read_bounded
from callboard.store.sqlite.database import SqliteDatabase
from callboard.studio.place import keep_on, place_of, server_of
from callboard.studio.project import Project
from callboard.studio.trust import ADOPTING_FILE, TrustRegistry
from callboard.tools.audit.folder import sessions_folder
from callboard.tools.audit.signing import Signer

_LARGEST_MARK: Final = 2**31 - 1
_HEADER_BYTES: Final = 100
_MOST_BYTES: Final = 64


def is_marked(project: Project, name: str) -> bool:
    """Say whether a database that lies in a project was made here."""
    mark = _known(project, name)
    return mark is not None and _in_file(project.folder / name) == mark


def mark(project: Project, name: str) -> None:
    """Make a database known as made here, and make the file if there is none."""
    # Remembered first: a file without its mark would be a stranger's.
    known = _known(project, name)
    if known is None:
        known = secrets.randbelow(_LARGEST_MARK) + 1
        write_atomically(_place(project, name), str(known).encode())
    connection = sqlite3.connect(project.folder / name)
    try:
        connection.execute(f"PRAGMA application_id = {known:d}")
    finally:
        connection.close()


def _place(project: Project, name: str) -> Path:
    return project.standing.identity / f"{name}.mark"


def _known(project: Project, name: str) -> int | None:
    try:
        return int(read_bounded(_place(project, name), limit_bytes=_MOST_BYTES))
    except (FileNotFoundError, FileRefused, ValueError):
        return None


def _in_file(path: Path) -> int | None:
    """Return the mark in a database as a reader sees it: a file that was just changed has a log."""
    if not path.is_file() or path.stat().st_size < _HEADER_BYTES:
        return None
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.Error:
        return None
    finally:
        connection.close()


JOURNAL: Final = "callboard.db"
DATABASES: Final = (JOURNAL, "kitchen.db")
_MOST_KEY_BYTES: Final = 4_096
_STATE: Final = ("audit", "runs", "sessions", "issues", "locks")


class ForeignDatabase(CallboardError):
    """A database lies in the project that was not made here."""

    code = "foreign_database"
    tier = ErrorTier.USER_FIXABLE


def foreign(names: list[str], project: Project) -> ForeignDatabase:
    """Return the refusal of databases that were not made here."""
    return ForeignDatabase(
        f"{', '.join(names)} in {project.brought} was not made by you on this machine",
        fix="`callboard trust --database aside` moves it away, `--database adopt` makes it "
        "yours as it is.",
        path=str(project.folder),
        files=names,
    )


def admit(project: Project, clock: Clock | None = None) -> Project:
    """Return a project whose database may be opened or made; a stranger's is refused."""
    check_kept_folder(project.folder)
    # A pack's own database is looked at by the pack that opens it.
    if project.standing.is_trusted and JOURNAL in (strange := strange_databases(project)):
        raise foreign(strange, project)
    standing = project.standing
    if standing.is_trusted and not standing.is_made_here:
        # Trusted for this command only: the database made now will be known the next time.
        now = (clock or SystemClock()).now_ms()
        TrustRegistry().trust(project.root, now, for_good=False)
        project = Project(project.root)
    project.folder.mkdir(parents=True, exist_ok=True)
    project.make_key()
    return project


def strange_databases(project: Project) -> list[str]:
    """Return the databases that lie in a project's folder and that this machine did not make."""
    there = [name for name in DATABASES if _is_there(project.brought / name)]
    if not TrustRegistry().has_key_for(project.root):
        return there
    return [name for name in there if name != JOURNAL and not is_marked(project, name)]


def claim(project: Project, name: str) -> None:
    """Have a pack's own database be the user's: made now, or refused if it was not made here."""
    if not _is_there(project.folder / name):
        mark(project, name)
    elif not is_marked(project, name):
        raise foreign([name], project)


def open_database(
    project: Project,
    *,
    url: str | None = None,
    durability: Durability = Durability.FULL,
    faults: FaultPoints | None = None,
    clock: Clock | None = None,
) -> Database:
    """Open the database of an admitted project to look at it, making it if there is none."""
    place, seal, mirrors = place_of(project, url), seal_of(project), _mirrors(project)
    if isinstance(place, Path):
        return SqliteDatabase.open(
            place, durability=durability, faults=faults, seal=seal, mirrors=mirrors, clock=clock
        )
    from callboard.store.postgres.database import PostgresDatabase

    database = PostgresDatabase.open(
        place, durability=durability, faults=faults, seal=seal, mirrors=mirrors, clock=clock
    )
    keep_on(project, place)
    return database


def open_to_work(
    project: Project,
    *,
    url: str | None = None,
    durability: Durability = Durability.FULL,
    faults: FaultPoints | None = None,
    clock: Clock | None = None,
) -> Database:
    """Open the database of an admitted project to go on with it; a swapped one is refused."""
    database = open_database(project, url=url, durability=durability, faults=faults, clock=clock)
    if database.is_own():
        return database
    database.close()
    place = server_of(project) or project.database
    raise ForeignDatabase(
        f"{place} was last written by somebody who does not have your key",
        fix="Put your own back from a backup. `callboard doctor` shows what differs, and "
        "`callboard doctor --accept` lets it count as it is.",
        path=str(place),
    )


def seal_of(project: Project) -> Seal:
    """Return what the ledger of a project is sealed with; its key is made now if need be."""
    signer = Signer(project.trail)
    return Seal(signer.derive("ledger"), signer.key_id, project.head)


def refuse_lost(project: Project) -> None:
    """Refuse to take a project for an empty one whose database is gone."""
    seal = seal_of(project) if project.key.exists() else None
    if server_of(project) is None:
        refuse_missing(project.database, seal, _mirrors(project))


def _mirrors(project: Project) -> tuple[Path, ...]:
    return project.runs, sessions_folder(project.audit)


def adopt(project: Project, names: Sequence[str], now_ms: int) -> int:
    """Make databases that lie in a trusted folder the user's own; return how many runs stopped.

    Receipts that its key signed go on to count. No run goes on by itself.
    """
    # Killed half-way, its runs might not be stopped yet: until the end it stays a stranger's.
    unfinished = project.standing.identity / ADOPTING_FILE
    unfinished.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(unfinished, b"")
    for name in names:
        if name != JOURNAL:
            mark(project, name)
    paused = _make_own(project, now_ms) if JOURNAL in names else 0
    unfinished.unlink()
    return paused


def _make_own(project: Project, now_ms: int) -> int:
    trail = project.trail
    shipped = project.brought / "audit" / "secret.key"
    with contextlib.suppress(FileNotFoundError):
        key = read_bounded(
            shipped, limit_bytes=_MOST_KEY_BYTES, within=project.brought, follow_links=False
        )
        trail.key.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(project.standing.identity / "adopted.key", key)
    project.make_key()
    database = open_database(project)
    try:
        paused = database.submit(lambda connection: pause_unfinished(connection, now_ms)).result()
        if not database.verify().is_sound:
            # Another key has signed it so far: from now on the user's own vouches for it as it is.
            database.accept()
        return paused
    finally:
        database.close()


def set_aside(project: Project, names: Sequence[str], now_ms: int) -> Path:
    """Move a stranger's databases, and what goes with a journal, away; return to where."""
    target = project.brought / "backups" / f"aside-{now_ms}"
    # A stranger's `backups` may be a link: nothing is moved through it.
    with naming_links(target):
        os.close(open_folder(project.brought, ("backups", target.name), create=True))
    for name in (*names, *(_STATE if JOURNAL in names else ())):
        for found in sorted(project.brought.glob(f"{name}*" if name in names else name)):
            found.rename(target / found.name)
    (project.standing.identity / ADOPTING_FILE).unlink(missing_ok=True)
    return target


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()

"""Acceptance: the user's word that a database shall count as it is, or that it is lost.

Nothing is thrown away: what does not agree is moved into the project's backups.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.clock import Clock, SystemClock
from callboard.store.ledger.verification import LedgerReport
from callboard.store.presence import DatabaseMissing
from callboard.studio.database import admit, open_database, refuse_lost
from callboard.studio.project import Project
from callboard.tools import sync_mirror, verify
from callboard.tools.audit.folder import mirror_path, sessions_folder

_LEFT: Final = ("callboard.db", "callboard.db-wal", "callboard.db-shm")


@dataclass(frozen=True, slots=True)
class Accepted:
    """What was wrong until now, and where that went which did not agree; None if nothing did."""

    report: LedgerReport
    aside: Path | None
    is_new: bool


def accept(project: Project, clock: Clock | None = None) -> Accepted:
    """Have the database of a project count as it is; one that is lost is begun anew."""
    told = clock or SystemClock()
    aside = project.folder / "backups" / f"lost-{told.now_ms()}"
    try:
        refuse_lost(project)
        is_new = False
    except DatabaseMissing:
        _put_aside(project, aside)
        is_new = True
    database = open_database(admit(project), clock=told)
    try:
        report = database.accept()
        for flaw in verify(database, project.trail).flaws:
            if flaw.where == "mirror":
                mirror = mirror_path(project.audit, flaw.session_id)
                _move(mirror, aside / "audit" / flaw.session_id / mirror.name)
                sync_mirror(database, project.audit, flaw.session_id)
    finally:
        database.close()
    return Accepted(report, aside if aside.exists() else None, is_new)


def _put_aside(project: Project, aside: Path) -> None:
    for name in _LEFT:
        _move(project.folder / name, aside / name)
    _move(project.runs, aside / "runs")
    _move(sessions_folder(project.audit), aside / "audit")
    # Last: until then the database is known to be missing, and this can be done again.
    _move(project.head, aside / "head")


def _move(path: Path, target: Path) -> None:
    if not path.exists() or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # The head lies among the user's own data, perhaps on another disk.
    shutil.move(path, target)

"""The doctor's checks: each looks at one thing and says what it found and what helps."""

import logging
import os
import platform
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callboard.cli.output import counted
from callboard.cli.reading import Owners
from callboard.cli.reports.copies import Copies
from callboard.cli.reports.models import weights_state
from callboard.cli.reports.packs import pack_problems
from callboard.cli.reports.prompts import open_registry
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, NotFound
from callboard.core.settings import Settings
from callboard.store.database import Database
from callboard.store.integrity import check_integrity
from callboard.store.journal.steps import altered_steps
from callboard.store.kept import KeptFolderUnsafe, check_kept_folder
from callboard.store.ledger.verification import LedgerReport
from callboard.store.postgres.address import StoreUnreachable
from callboard.studio.configuration import Configuration
from callboard.studio.database import (
    admit,
    foreign,
    open_database,
    refuse_lost,
    strange_databases,
)
from callboard.studio.keys import key_names, open_credentials
from callboard.studio.place import StoreElsewhere, has_database
from callboard.studio.project import Project
from callboard.studio.trust_survey import names_brought

_LEAST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one check found; only `bad` means that something must be mended."""

    what: str
    mark: Literal["ok", "note", "bad"]
    told: str
    fix: str = ""

    def shape(self) -> dict[str, Json]:
        """Return the finding as JSON."""
        return {"what": self.what, "mark": self.mark, "told": self.told, "fix": self.fix}


def examine(folder: Path | None, *, fix: bool) -> list[Diagnosis]:
    """Look at everything that can be looked at; a missing project ends the examination early."""
    findings = [_python()]
    try:
        project = Project.locate(Path.cwd() if folder is None else folder)
    except NotFound as error:
        if folder is not None:
            raise
        findings.append(Diagnosis("project", "note", error.message, error.fix or ""))
        findings += _surroundings(None)
        return findings
    findings.append(Diagnosis("project", "ok", str(project.root)))
    findings.append(_trust(project))
    findings += _surroundings(project)
    findings += _templates(project)
    findings += _strange(project)
    findings += _stored(project, fix=fix)
    return findings


def _strange(project: Project) -> Iterator[Diagnosis]:
    """Name databases that lie in the folder and were not made here."""
    strange = strange_databases(project)
    if strange:
        error = foreign(strange, project)
        # Nobody vouches for what nobody opens: that is not the same as sound.
        yield Diagnosis("database", "bad", error.message, error.fix or "")


def _trust(project: Project) -> Diagnosis:
    standing = project.standing
    if standing.is_trusted:
        return Diagnosis("trust", "ok", standing.reason)
    ignored = ", ".join(names_brought(project.brought)) or "nothing so far"
    told = f"{standing.reason}; ignored: {ignored}"
    return Diagnosis("trust", "note", told, "`callboard trust` shows what it brings, and asks.")


def _python() -> Diagnosis:
    version = platform.python_version()
    if sys.version_info < _LEAST_PYTHON:
        return Diagnosis("python", "bad", f"{version} is too old", "Install Python 3.11 or newer.")
    return Diagnosis("python", "ok", version)


def _surroundings(project: Project | None) -> Iterator[Diagnosis]:
    with _without_log():
        loaded = Configuration(project).loaded
    for warning in loaded.warnings:
        yield Diagnosis("settings", "bad", str(warning), "Correct the named key or file.")
    if not loaded.warnings:
        yield Diagnosis("settings", "ok", "every layer can be used")
    weights = weights_state()
    if weights.path is not None:
        yield Diagnosis("weights", "ok", weights.told)
    else:
        # Only a project that asks for the embedded model misses anything.
        is_wanted = loaded.settings.models.default == "local"
        yield Diagnosis("weights", "bad" if is_wanted else "note", weights.told)
    yield _keys(loaded.settings, project)
    yield from _packs()


def _packs() -> Iterator[Diagnosis]:
    problems = pack_problems()
    for problem in problems:
        yield Diagnosis("packs", "bad", problem, "Correct the pack, or uninstall its distribution.")
    if not problems:
        yield Diagnosis("packs", "ok", "all that is installed can be used")


def _keys(settings: Settings, project: Project | None) -> Diagnosis:
    survey = open_credentials(settings, os.environ, project=project).survey(key_names(settings))
    if survey.problem is not None:
        return Diagnosis("keys", "bad", survey.problem.message, survey.problem.fix or "")
    names = [each.provider for each in survey.keys if each.found is not None]
    return Diagnosis("keys", "ok" if names else "note", ", ".join(names) or "no provider has a key")


@contextmanager
def _without_log() -> Generator[None]:
    """Keep what becomes a finding from being told a second time by the log."""
    logger = logging.getLogger(Configuration.__module__)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _templates(project: Project) -> Iterator[Diagnosis]:
    problems = open_registry(project, ()).problems()
    for problem in problems:
        yield Diagnosis("prompts", "bad", problem.message, problem.fix or "")
    if not problems:
        yield Diagnosis("prompts", "ok", "every template can be read")


def _stored(project: Project, *, fix: bool) -> Iterator[Diagnosis]:
    try:
        check_kept_folder(project.folder)
    except KeptFolderUnsafe as error:
        yield Diagnosis("project folder", "bad", error.message, error.fix or "")
        return
    try:
        if not has_database(project):
            refuse_lost(project)
            yield Diagnosis("database", "note", "nothing has run yet")
            return
        database = open_database(admit(project))
    except CallboardError as error:
        yield _damaged(error)
        return
    try:
        yield from _in_database(project, database, fix=fix)
    except CallboardError as error:
        yield _damaged(error)
    finally:
        database.close()


def _in_database(project: Project, database: Database, *, fix: bool) -> Iterator[Diagnosis]:
    report = check_integrity(database)
    for problem in report.problems:
        yield Diagnosis("database", "bad", problem, _SALVAGE)
    if report.is_sound:
        yield Diagnosis("database", "ok", f"sound, {counted(report.blobs_checked, 'blob')} checked")
    sealed = database.verify()
    yield from _ledger(sealed)
    copies = Copies(project, database, is_proven=sealed.is_sound and report.is_sound)
    # One that cannot be made, because a row is damaged, must not keep the others from being made.
    for check in (
        lambda: _runs(project, database),
        lambda: _steps(database),
        lambda: _mirrors(copies, fix=fix),
        lambda: _receipts(copies, fix=fix),
    ):
        try:
            yield from check()
        except CallboardError as error:
            yield _damaged(error)


def _ledger(report: LedgerReport) -> Iterator[Diagnosis]:
    told = [f"{flaw.code}: {flaw.message}" for flaw in report.flaws]
    for text in (*told[:_MOST_FLAWS], *report.unproven):
        yield Diagnosis("ledger", "bad", text, _ACCEPT)
    if told[_MOST_FLAWS:]:
        more = f"{len(told) - _MOST_FLAWS} more flaws; `callboard receipts verify` names them all"
        yield Diagnosis("ledger", "bad", more, _ACCEPT)
    for note in report.notes:
        yield Diagnosis("ledger", "note", note)
    if report.is_sound:
        checked = f"{counted(report.rows, 'row')}, {counted(report.entries, 'commit')}"
        yield Diagnosis("ledger", "ok", f"every row is as it was written ({checked})")


def _steps(database: Database) -> Iterator[Diagnosis]:
    for run_id, key in database.read(altered_steps):
        told = f"the output of step {key!r} of run {run_id} is not what was recorded"
        yield Diagnosis("steps", "bad", told, "Put the database back from a backup.")


_MOST_FLAWS = 20
_ACCEPT = (
    "Put the database back from a backup; or, if you know why, `callboard doctor --accept` has it"
    " count as it is from now on."
)
_CONFLICT = (
    "Compare the two. Put the database back from a backup, or have it count as it is with"
    " `callboard doctor --accept`; then `--fix` writes the folders anew and keeps what they held."
)
_SALVAGE = (
    "Copy what can be read: `callboard doctor --salvage FILE`. Backups lie in .callboard/backups."
)


def _damaged(error: CallboardError) -> Diagnosis:
    # A server that is away is not damaged.
    is_away = isinstance(error, StoreUnreachable | StoreElsewhere)
    return Diagnosis("database", "bad", error.message, (is_away and error.fix) or _SALVAGE)


def _runs(project: Project, database: Database) -> Iterator[Diagnosis]:
    lost = Owners(database, project).interrupted()
    waiting = [run for run in lost if run.state.value == "waiting"]
    others = [run for run in lost if run not in waiting]
    if waiting:
        told = f"{counted(len(waiting), 'run')} wait for the human or for time"
        yield Diagnosis("runs", "note", told, "`callboard answer` lists the questions.")
    if others:
        told = f"interrupted: {', '.join(run.id for run in others[:5])}"
        yield Diagnosis("runs", "bad", told, "`callboard runs resume --all`, or cancel them.")
    if not lost:
        yield Diagnosis("runs", "ok", "none is interrupted")


def _mirrors(copies: Copies, *, fix: bool) -> Iterator[Diagnosis]:
    stale = copies.stale_runs()
    named = f"{counted(len(stale), 'folder')}: {', '.join(stale[:3])}"
    if not stale:
        yield Diagnosis("run folders", "ok", "all agree with the journal")
    elif not copies.is_proven:
        told = f"{named}; either they or the database were altered, and nothing was written"
        yield Diagnosis("run folders", "bad", told, _CONFLICT)
    elif fix:
        aside = copies.write_runs(stale)
        kept = "" if aside is None else f"; what they held lies in {aside}"
        yield Diagnosis("run folders", "ok", f"{counted(len(stale), 'folder')} written anew{kept}")
    else:
        told = f"{named} differ from the journal"
        yield Diagnosis("run folders", "bad", told, "`callboard doctor --fix` writes them anew.")


def _receipts(copies: Copies, *, fix: bool) -> Iterator[Diagnosis]:
    found = copies.receipts()
    if fix and found.notes and copies.is_proven:
        copies.write_receipts(found)
        found = copies.receipts()
    for flaw in found.flaws:
        yield Diagnosis("receipts", "bad", f"{flaw.code}: {flaw.message}")
    for note in found.notes:
        yield Diagnosis("receipts", "note", note)
    if found.is_sound:
        yield Diagnosis("receipts", "ok", f"{counted(found.receipts, 'receipt')} verified")

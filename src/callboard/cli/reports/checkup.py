"""The doctor's checks: each looks at one thing and says what it found and what helps."""

import filecmp
import logging
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from callboard.choreography.recipe import is_recipe_run
from callboard.choreography.recipe.folder import folder_of
from callboard.cli.lookup import Owners
from callboard.cli.output import counted
from callboard.cli.reports.models import weights_state
from callboard.cli.reports.prompts import open_registry
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, NotFound
from callboard.core.settings import Settings
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.faults import NoFaults
from callboard.store.integrity import check_integrity
from callboard.store.journal.runs import list_runs
from callboard.store.mirror import RunFolder, RunMirror
from callboard.studio.configuration import Configuration
from callboard.studio.keys import key_names, open_credentials
from callboard.studio.project import Project
from callboard.tools import sync_mirror, verify

_LEAST_PYTHON = (3, 11)
_MIRROR_FILES = ("run.json", "steps.jsonl", "cache.json", "recipe.json")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; only `bad` means that something must be mended."""

    what: str
    mark: Literal["ok", "note", "bad"]
    told: str
    fix: str = ""

    def shape(self) -> dict[str, Json]:
        """Return the finding as JSON."""
        return {"what": self.what, "mark": self.mark, "told": self.told, "fix": self.fix}


def examine(folder: Path | None, *, fix: bool) -> list[Finding]:
    """Look at everything that can be looked at; a missing project ends the examination early."""
    findings = [_python()]
    try:
        project = Project.find(Path.cwd() if folder is None else folder)
    except NotFound as error:
        if folder is not None:
            raise
        findings.append(Finding("project", "note", error.message, error.fix or ""))
        findings += _surroundings(None)
        return findings
    findings.append(Finding("project", "ok", str(project.root)))
    findings += _surroundings(project)
    findings += _templates(project)
    findings += _stored(project, fix=fix)
    return findings


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < _LEAST_PYTHON:
        return Finding("python", "bad", f"{version} is too old", "Install Python 3.11 or newer.")
    return Finding("python", "ok", version)


def _surroundings(project: Project | None) -> Iterator[Finding]:
    with _without_log():
        loaded = Configuration(project.root if project is not None else None).loaded
    for warning in loaded.warnings:
        yield Finding("settings", "bad", str(warning), "Correct the named key or file.")
    if not loaded.warnings:
        yield Finding("settings", "ok", "every layer can be used")
    weights = weights_state()
    if weights.path is not None:
        yield Finding("weights", "ok", weights.told)
    else:
        # Only a project that asks for the embedded model misses anything.
        is_wanted = loaded.settings.models.default == "local"
        yield Finding("weights", "bad" if is_wanted else "note", weights.told)
    yield _keys(loaded.settings, project)


def _keys(settings: Settings, project: Project | None) -> Finding:
    root = None if project is None else project.root
    survey = open_credentials(settings, os.environ, project=root).survey(key_names(settings))
    if survey.problem is not None:
        return Finding("keys", "bad", survey.problem.message, survey.problem.fix or "")
    names = [each.provider for each in survey.keys if each.found is not None]
    return Finding("keys", "ok" if names else "note", ", ".join(names) or "no provider has a key")


@contextmanager
def _without_log() -> Generator[None]:
    """Keep what becomes a finding from being told a second time by the log."""
    logger = logging.getLogger(Configuration.__module__)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _templates(project: Project) -> Iterator[Finding]:
    problems = open_registry(project, ()).problems()
    for problem in problems:
        yield Finding("prompts", "bad", problem.message, problem.fix or "")
    if not problems:
        yield Finding("prompts", "ok", "every template can be read")


def _stored(project: Project, *, fix: bool) -> Iterator[Finding]:
    if not project.database.exists():
        yield Finding("database", "note", "nothing has run yet")
        return
    try:
        database = Database.open(project.database)
    except CallboardError as error:
        yield _damaged(error)
        return
    try:
        yield from _in_database(project, database, fix=fix)
    except CallboardError as error:
        yield _damaged(error)
    finally:
        database.close()


def _in_database(project: Project, database: Database, *, fix: bool) -> Iterator[Finding]:
    report = check_integrity(database)
    for problem in report.problems:
        yield Finding("database", "bad", problem, _SALVAGE)
    if report.is_sound:
        yield Finding("database", "ok", f"sound, {counted(report.blobs_checked, 'blob')} checked")
    yield from _runs(project, database)
    yield from _mirrors(project, database, fix=fix)
    yield from _receipts(project, database, fix=fix)


_SALVAGE = (
    "Copy what can be read: `callboard doctor --salvage FILE`. Backups lie in .callboard/backups."
)


def _damaged(error: CallboardError) -> Finding:
    return Finding("database", "bad", error.message, _SALVAGE)


def _runs(project: Project, database: Database) -> Iterator[Finding]:
    lost = Owners(database, project).interrupted()
    waiting = [run for run in lost if run.state.value == "waiting"]
    others = [run for run in lost if run not in waiting]
    if waiting:
        told = f"{counted(len(waiting), 'run')} wait for the human or for time"
        yield Finding("runs", "note", told, "`callboard answer` lists the questions.")
    if others:
        told = f"interrupted: {', '.join(run.id for run in others[:5])}"
        yield Finding("runs", "bad", told, "`callboard runs resume --all`, or cancel them.")
    if not lost:
        yield Finding("runs", "ok", "none is interrupted")


def _mirrors(project: Project, database: Database, *, fix: bool) -> Iterator[Finding]:
    stale = _stale_runs(project, database)
    if not stale:
        yield Finding("run folders", "ok", "all agree with the journal")
    elif fix:
        mirror = RunMirror(database, project.runs, NoFaults(), _shape(project))
        for run_id in stale:
            mirror.sync(run_id)
        yield Finding("run folders", "ok", f"{counted(len(stale), 'folder')} written anew")
    else:
        told = f"{counted(len(stale), 'folder')} differ from the journal: {', '.join(stale[:3])}"
        yield Finding("run folders", "bad", told, "`callboard doctor --fix` writes them anew.")


def _shape(project: Project) -> Callable[[Connection, RunRecord], RunFolder | None]:
    """Return how folders look here: those of recipes have a shape of their own."""

    def shape(connection: Connection, run: RunRecord) -> RunFolder | None:
        return folder_of(connection, run, project.root) if is_recipe_run(run) else None

    return shape


def _stale_runs(project: Project, database: Database) -> list[str]:
    """Return the runs whose folder is not what the journal would make of it."""
    owners = Owners(database, project)
    runs = [run for run in database.read(list_runs) if not owners.executes(run)]
    with tempfile.TemporaryDirectory() as scratch:
        fresh = RunMirror(database, Path(scratch), NoFaults(), _shape(project))
        stale: list[str] = []
        for run in runs:
            fresh.sync(run.id)
            made, there = Path(scratch) / run.id, project.runs / run.id
            _, differing, missing = filecmp.cmpfiles(made, there, _MIRROR_FILES, shallow=False)
            if differing or missing:
                stale.append(run.id)
    return stale


def _receipts(project: Project, database: Database, *, fix: bool) -> Iterator[Finding]:
    found = verify(database, project.root)
    if fix and found.notes:
        for session_id in found.sessions:
            sync_mirror(database, project.root, session_id)
        found = verify(database, project.root)
    for flaw in found.flaws:
        yield Finding("receipts", "bad", f"{flaw.code}: {flaw.message}")
    for note in found.notes:
        yield Finding("receipts", "note", note)
    if found.is_sound:
        yield Finding("receipts", "ok", f"{counted(found.receipts, 'receipt')} verified")

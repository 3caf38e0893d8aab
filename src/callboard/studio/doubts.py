"""Doubts: what the mirrors know of unfinished runs and the journal does not.

The user may say that a database shall count as it is, or that it is lost.

A log that was cut or left behind, or an older copy of the database, makes a journal forget what it
had finished. The mirrors are copies of it: if they know more, those effects have taken place or may
have, and are journaled as unknown before anything goes on, or the mirrors are written anew.

Nothing is thrown away: what does not agree is moved into the project's backups.
"""

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.clock import Clock, SystemClock
from callboard.core.vocabulary import UNFINISHED
from callboard.core.vocabulary.run import Effect, RunRecord, StepKind, StepRecord, StepState
from callboard.engine.doubt import ANY_INPUTS
from callboard.store.connection import Connection, StoreCorrupt
from callboard.store.database import Database
from callboard.store.files import read_last_line, read_whole_lines
from callboard.store.journal.runs import list_runs
from callboard.store.journal.steps import insert_lost_step, load_journal, step_keys
from callboard.store.ledger.verification import LedgerReport
from callboard.store.presence import DatabaseMissing
from callboard.studio.database import admit, open_database
from callboard.studio.project import Project
from callboard.tools import ToolRegistry, sync_mirror, verify
from callboard.tools.audit.folder import mirror_path, sessions_folder
from callboard.tools.audit.mirror import read_mirror

_log = logging.getLogger(__name__)


_ENDED: Final = ("done", "failed", "unknown")
_ONCE_MARK: Final = f'"{Effect.ONCE.value}"'


@dataclass(frozen=True, slots=True)
class Doubts:
    """Compares the mirrors of a project with its journal."""

    project: Project
    database: Database
    tools: ToolRegistry
    is_executed: Callable[[RunRecord], bool]

    def journal(self) -> dict[str, list[str]]:
        """Journal as unknown what only the mirrors know; return the keys by run."""
        runs = self.database.read(lambda c: list_runs(c, states=UNFINISHED))
        found = {run.id: self._lost(run) for run in runs if not self.is_executed(run)}
        lost = {run_id: steps for run_id, steps in found.items() if steps}
        if lost:
            self.database.submit(lambda connection: _store(connection, lost)).result()
        for run_id, steps in lost.items():
            keys = ", ".join(step.key for step in steps)
            _log.warning(
                "the journal of run %s has forgotten what its mirror knows: %s. Each is looked into"
                " before the run goes on.",
                run_id,
                keys,
            )
        return {run_id: [step.key for step in steps] for run_id, steps in lost.items()}

    def _lost(self, run: RunRecord) -> list[StepRecord]:
        # The mirrors first: what they hold was committed before, so the snapshot must hold it.
        told = [*self._in_folder(run), *self._in_receipts(run)]
        # Mostly the run's own rows answer; only what they lack is looked for among its parents'.
        own = self.database.read(lambda connection: step_keys(connection, run.id)) if told else ()
        if all(step.key in own for step in told):
            return []
        try:
            journal = self.database.read(lambda connection: load_journal(connection, run))
        except StoreCorrupt:
            # Whoever takes the run up is told.
            return []
        seq = max((step.seq for step in journal.values()), default=run.parent_seq)
        lost = {step.key: step for step in told if step.key not in journal}
        return [replace(step, seq=seq + 1) for step in lost.values()]

    def _in_folder(self, run: RunRecord) -> Iterator[StepRecord]:
        """Give the `once` steps that the run's folder holds as ended."""
        # Every line, not the last alone: a row may have been taken out of the middle. Only those
        # that can matter are taken apart.
        path = self.project.runs / run.id / "steps.jsonl"
        told = read_whole_lines(path, within=self.project.folder)
        for line in (_parse(each) for each in told if _ONCE_MARK in each):
            if line.get("effect") == Effect.ONCE and line.get("state") in _ENDED:
                hashed = str(line.get("input_hash", "")).removeprefix("sha256:")
                yield _unknown(run, str(line.get("key")), hashed or ANY_INPUTS, line.get("kind"))

    def _in_receipts(self, run: RunRecord) -> Iterator[StepRecord]:
        """Give the steps whose calls of effectful tools have a receipt in the mirror only."""
        mirrored = _parse(read_last_line(mirror_path(self.project.audit, run.session_id)))
        newest = self.database.read(lambda c: _newest_receipt(c, run.session_id))
        if not isinstance(last := mirrored.get("seq"), int) or last <= newest:
            return
        for line in read_mirror(self.project.audit, run.session_id, holding=(run.id,)):
            data = line.data or {}
            seq, key = data.get("seq"), data.get("step_key")
            is_newer = isinstance(seq, int) and seq > newest
            if is_newer and data.get("run_id") == run.id and isinstance(key, str):
                tool = str(data.get("tool"))
                is_pure = tool in self.tools and self.tools.get(tool).effect is not Effect.ONCE
                if data.get("outcome") != "refused" and not is_pure:
                    yield _unknown(run, key, ANY_INPUTS, StepKind.TOOL.value)


def _parse(line: str) -> dict[str, Any]:
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _unknown(run: RunRecord, key: str, input_hash: str, kind: object) -> StepRecord:
    known = {each.value: each for each in StepKind}
    return StepRecord(
        run.id,
        key,
        0,
        known.get(str(kind), StepKind.WORK),
        Effect.ONCE,
        StepState.UNKNOWN,
        input_hash,
        detail={"lost": "the journal had forgotten it"},
    )


def _newest_receipt(connection: Connection, session_id: str) -> int:
    row = connection.execute(
        "SELECT MAX(seq) AS seq FROM receipts WHERE session_id = ?", (session_id,)
    ).fetchone()
    return int(row["seq"] or 0)


def _store(connection: Connection, lost: dict[str, list[StepRecord]]) -> None:
    for steps in lost.values():
        for step in steps:
            insert_lost_step(connection, step)


_LEFT: Final = ("callboard.db", "callboard.db-wal", "callboard.db-shm")


@dataclass(frozen=True, slots=True)
class AcceptedDatabase:
    """What was wrong until now, and where that went which did not agree; None if nothing did."""

    report: LedgerReport
    aside: Path | None
    is_new: bool


def accept(project: Project, clock: Clock | None = None) -> AcceptedDatabase:
    """Have the database of a project count as it is; one that is lost is begun anew."""
    told = clock or SystemClock()
    aside = project.folder / "backups" / f"lost-{told.now_ms()}"
    is_new = False
    try:
        database = open_database(admit(project), clock=told)
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
    return AcceptedDatabase(report, aside if aside.exists() else None, is_new)


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

"""The run folder: a readable copy of the journal. Deleting it loses nothing."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary.run import RunRecord
from callboard.core.vocabulary.step import StepRecord, StepState
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.faults import FaultPoints
from callboard.store.files import locked_folder, read_whole_lines, write_atomically
from callboard.store.journal.runs import list_runs, load_run
from callboard.store.journal.steps import load_journal, with_output

_PREVIEW_CHARS = 200
# How many runs a start-up looks after: a crash leaves only the latest behind.
_LATEST_RUNS = 500


class RunMirror:
    """Writes `runs/<run id>/` after the commit, from the database alone."""

    def __init__(self, database: Database, root: Path, faults: FaultPoints) -> None:
        """Take the database to read from and the folder to write to."""
        self._database = database
        self._root = root
        self._faults = faults

    def sync(self, run_id: str) -> None:
        """Bring one run's folder up to date."""
        folder = self._root / run_id
        self._faults.reach("mirror.before_write")
        # Read under the lock, so that of two processes the one with the newer state comes last.
        with locked_folder(folder):
            self._write(folder, run_id)
        self._faults.reach("mirror.after_write")

    def _write(self, folder: Path, run_id: str) -> None:
        run, steps = self._database.read(lambda connection: _finished(connection, run_id))
        lines = [compact_json(_line(step)) for step in steps]
        _append_missing(folder / "steps.jsonl", lines)
        slots = {step.slot: _slot(step) for step in steps if step.slot is not None}
        _write_json(folder / "cache.json", slots)
        _write_json(folder / "recipe.json", {"choreography": run.choreography, "args": run.args})
        # Last, so that a folder whose run.json is up to date is up to date as a whole.
        _write_json(folder / "run.json", _run(run, len(steps)))

    def stale(self) -> list[RunRecord]:
        """Return those of the latest runs whose folder is missing or behind the journal."""
        latest = self._database.read(lambda c: list_runs(c, latest_first=True, limit=_LATEST_RUNS))
        return [run for run in latest if not self._is_current(run)]

    def _is_current(self, run: RunRecord) -> bool:
        try:
            there: Any = json.loads((self._root / run.id / "run.json").read_bytes())
            told = (there["state"], there["updated_at"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return told == (run.state.value, run.updated_at)


def _finished(connection: Connection, run_id: str) -> tuple[RunRecord, list[StepRecord]]:
    run = load_run(connection, run_id)
    steps = [
        with_output(connection, step)
        for step in load_journal(connection, run).values()
        if step.state in (StepState.DONE, StepState.FAILED) or step.error is not None
    ]
    return run, sorted(steps, key=lambda step: step.seq)


def _run(run: RunRecord, steps: int) -> dict[str, Json]:
    data: dict[str, Any] = asdict(run)
    data["state"] = run.state.value
    data["error"] = run.error.to_json() if run.error is not None else None
    data["steps"] = steps
    # Which process executes a run is of no use to a reader, and gone after a restart.
    del data["owner"]
    return data


def _line(step: StepRecord) -> dict[str, Json]:
    output = step.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {
        "key": step.key,
        "seq": step.seq,
        "run_id": step.run_id,
        "kind": step.kind.value,
        "effect": step.effect.value,
        "state": step.state.value,
        "input_hash": f"sha256:{step.input_hash}",
        "output_hash": f"sha256:{step.output_hash}" if step.output_hash is not None else None,
        "output_preview": text[:_PREVIEW_CHARS],
        "slot": step.slot,
        "receipt_id": step.receipt_id,
        "error": step.error.to_json() if step.error is not None else None,
        "detail": step.detail,
        "started_at": step.started_at,
        "ended_at": step.ended_at,
    }


def _slot(step: StepRecord) -> dict[str, Json]:
    return {
        "type": "pointer" if step.receipt_id is not None else "artifact",
        "step_key": step.key,
        "receipt_id": step.receipt_id,
        "sha256": step.output_hash,
        "value": step.output,
    }


def _append_missing(path: Path, lines: list[str]) -> None:
    """Append what is not there yet; a file that is not a beginning of the truth is rewritten."""
    there = read_whole_lines(path)
    wanted = "".join(f"{line}\n" for line in lines)
    size = path.stat().st_size if path.exists() else 0
    whole = sum(len(line.encode()) + 1 for line in there) == size
    if not whole or there != lines[: len(there)] or not there:
        write_atomically(path, wanted.encode())
        return
    tail = "".join(f"{line}\n" for line in lines[len(there) :])
    if not tail:
        return
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(handle, tail.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_json(path: Path, value: Json) -> None:
    data = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace")
    if path.exists() and path.read_bytes() == data:
        return
    write_atomically(path, data)

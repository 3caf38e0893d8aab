"""The run folder: a readable copy of the journal. Deleting it loses nothing."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary.run import RunRecord, StepRecord, StepState
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.faults import FaultPoints
from callboard.store.files import append_durably, locked_folder, write_atomically
from callboard.store.journal.events import latest_runs
from callboard.store.journal.runs import list_runs, load_run
from callboard.store.journal.steps import load_journal, with_output
from callboard.store.reading import FileRefused, read_bounded

_PREVIEW_CHARS = 200
# How many runs a start-up looks after: a crash leaves only the latest behind.
_LATEST_RUNS = 500
# How far back every opening of a project looks for them, however many runs there are.
_LAST_EVENTS = 100
_LARGEST_RUN_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class RunFolder:
    """What the folder of a run holds; `files` are further files by their path in it.

    `run` tells the run's state as `state` or `status`, and when it last changed as `updated_at`.
    """

    run: Mapping[str, Json]
    steps: tuple[Mapping[str, Json], ...]
    cache: Mapping[str, Json]
    recipe: Mapping[str, Json]
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


Shape = Callable[[Connection, RunRecord], RunFolder | None]
"""Gives a run's folder a shape of its own, or None for the usual one."""


class RunMirror:
    """Writes `runs/<run id>/` after the commit, from the database alone."""

    def __init__(
        self, database: Database, root: Path, faults: FaultPoints, shape: Shape | None = None
    ) -> None:
        """Take the database to read from and the folder to write to."""
        self._database = database
        self._root = root
        # Callboard's own folder: `runs` may be a link no more than anything in it.
        self._kept = root.parent
        self._faults = faults
        self._shape = shape

    def sync(self, run_id: str, first: Callable[[], None] | None = None) -> None:
        """Bring one run's folder up to date, after `first` has copied what the folder points to.

        The run is read before: what happens while `first` writes is for the next sync to tell.
        So a folder that is up to date points to nothing that was not copied.
        """
        folder = self._root / run_id
        self._faults.reach("mirror.before_write")
        # Read under the lock, so that of two processes the one with the newer state comes last.
        with locked_folder(folder, within=self._kept):
            held = self._database.read(lambda connection: self._read(connection, run_id))
            if first is not None:
                first()
            self._write(folder, held)
        self._faults.reach("mirror.after_write")

    def _write(self, folder: Path, held: RunFolder) -> None:
        for name, data in held.files.items():
            self._write_bytes(folder / name, data)
        # The snapshot of the slots before the lines that speak of them.
        self._write_json(folder / "cache.json", held.cache)
        lines = [compact_json(line) for line in held.steps]
        _append_missing(folder / "steps.jsonl", lines, self._kept)
        self._write_json(folder / "recipe.json", held.recipe)
        # Last, so that a folder whose run.json is up to date is up to date as a whole.
        self._write_json(folder / "run.json", held.run)

    def _write_json(self, path: Path, value: Json) -> None:
        text = json.dumps(value, ensure_ascii=False, indent=2)
        self._write_bytes(path, text.encode("utf-8", "replace"))

    def _write_bytes(self, path: Path, data: bytes) -> None:
        if _content(path, len(data), self._kept) != data:
            write_atomically(path, data, within=self._kept)

    def _read(self, connection: Connection, run_id: str) -> RunFolder:
        run = load_run(connection, run_id)
        own = self._shape(connection, run) if self._shape is not None else None
        return own or _usual(connection, run)

    def is_behind(self) -> bool:
        """Say whether the folder of a run that changed last is missing or behind the journal."""

        def read(connection: Connection) -> list[RunRecord]:
            return [load_run(connection, each) for each in latest_runs(connection, _LAST_EVENTS)]

        return not all(self._is_current(run) for run in self._database.read(read))

    def stale(self) -> list[RunRecord]:
        """Return those of the latest runs whose folder is missing or behind the journal."""
        latest = self._database.read(lambda c: list_runs(c, latest_first=True, limit=_LATEST_RUNS))
        return [run for run in latest if not self._is_current(run)]

    def _is_current(self, run: RunRecord) -> bool:
        try:
            path = self._root / run.id / "run.json"
            there: Any = json.loads(_content(path, _LARGEST_RUN_BYTES, self._kept) or b"")
            told = (there.get("state", there.get("status")), _stamp(there["updated_at"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        return told == (run.state.value, run.updated_at)


def _stamp(told: int | str) -> int:
    return told if isinstance(told, int) else round(datetime.fromisoformat(told).timestamp() * 1000)


def _usual(connection: Connection, run: RunRecord) -> RunFolder:
    steps = [
        with_output(connection, step)
        for step in load_journal(connection, run).values()
        if step.state in (StepState.DONE, StepState.FAILED) or step.error is not None
    ]
    steps.sort(key=lambda step: step.seq)
    return RunFolder(
        run=_run(run, len(steps)),
        steps=tuple(_line(step) for step in steps),
        cache={step.slot: _slot(step) for step in steps if step.slot is not None},
        recipe={"choreography": run.choreography, "args": run.args},
    )


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


def _append_missing(path: Path, lines: list[str], kept: Path) -> None:
    """Append what is not there yet; a file that is not a beginning of the truth is rewritten."""
    wanted = "".join(f"{line}\n" for line in lines).encode()
    there = _content(path, len(wanted), kept)
    if not there or not there.endswith(b"\n") or not wanted.startswith(there):
        write_atomically(path, wanted, within=kept)
    elif len(there) < len(wanted):
        append_durably(path, wanted[len(there) :], within=kept)


def _content(path: Path, most_bytes: int, kept: Path) -> bytes | None:
    """Return what lies at a place in the folder; what cannot be a copy of ours is nothing."""
    try:
        return read_bounded(path, limit_bytes=most_bytes, within=kept, follow_links=False)
    except (FileNotFoundError, FileRefused):
        return None

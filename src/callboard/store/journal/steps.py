"""Rows of steps: what a run has finished, and what it meant to do when it was interrupted."""

from dataclasses import replace
from typing import Any, Final

from callboard.core.canonical import Json, compact_json, digest_bytes
from callboard.core.errors import NotFound
from callboard.core.vocabulary.run import Effect, RunRecord, StepKind, StepRecord, StepState
from callboard.store.blobs import get_blob, put_blob
from callboard.store.connection import Connection, StoreCorrupt
from callboard.store.journal.encoding import RowDamaged, decode, decode_error, row_of
from callboard.store.journal.runs import OWNED, Owner, load_run, owned_values
from callboard.store.writer import Statement

# Outputs up to this size lie in the step's own row; larger ones are stored once, as blobs.
INLINE_BYTES: Final = 2048

_KINDS: Final = {kind.value: kind for kind in StepKind}
_EFFECTS: Final = {effect.value: effect for effect in Effect}
_DONE: Final = StepState.DONE.value
_NOTHING: Final = (None, None)
_STATES: Final = {state.value: state for state in StepState}

_COLUMNS: Final = (
    "run_id, key, seq, kind, effect, state, input_hash, output, output_hash,"
    " slot, receipt_id, error, detail, started_at, ended_at"
)
_MARKS: Final = ", ".join("?" * 15)
_INSERT: Final = f"INSERT INTO steps ({_COLUMNS}) VALUES ({_MARKS})"  # noqa: S608 - literals

# The claim is checked in the same statement: an execution that lost its run cannot write into it.
_COMPLETE: Final = (
    f"INSERT INTO steps ({_COLUMNS}) SELECT {_MARKS} WHERE EXISTS ({OWNED})"
    " ON CONFLICT (run_id, key) DO UPDATE SET seq = excluded.seq, effect = excluded.effect,"
    " state = excluded.state, output = excluded.output, output_hash = excluded.output_hash,"
    " slot = excluded.slot, receipt_id = excluded.receipt_id, error = excluded.error,"
    " detail = excluded.detail, started_at = excluded.started_at, ended_at = excluded.ended_at"
    " WHERE steps.state IN ('intent', 'unknown')"
)


class StepAltered(StoreCorrupt):
    """The stored output of a finished step is not the one that was recorded."""

    code = "step_altered"

    def __init__(self, step: StepRecord) -> None:
        """Name the step and its run."""
        super().__init__(
            f"The output of step {step.key!r} of run {step.run_id} is not what was recorded",
            fix=(
                "Put the database back from a backup and resume the run, or fork the run before"
                " this step. `callboard doctor` names everything else that was altered."
            ),
            run_id=step.run_id,
            key=step.key,
        )


def step_row(step: StepRecord, owner: Owner, output: str) -> Statement | None:
    """Return the insert of a finished step, to be executed together with those of others.

    None if its output is too large for its row.
    """
    if len(output) > INLINE_BYTES:
        return None
    inline = (output, digest_bytes(output.encode())) if step.state is StepState.DONE else _NOTHING
    return _COMPLETE, (*_values(step, inline), *owned_values(step.run_id, owner))


def complete_step(
    connection: Connection, step: StepRecord, owner: Owner, output: str | None = None
) -> bool:
    """Store a step or complete its intent, for its owner; a finished step is never changed."""
    row = (*_row(connection, step, output), *owned_values(step.run_id, owner))
    return connection.execute(_COMPLETE, row).rowcount == 1


def insert_step(connection: Connection, step: StepRecord) -> None:
    """Store a finished step of a run that nobody executes yet."""
    connection.execute(_INSERT, _row(connection, step, compact_json(step.output)))


def insert_lost_step(connection: Connection, step: StepRecord) -> None:
    """Store a step whose outcome was lost, for a run that nobody executes; what is there stays."""
    row = _row(connection, step, None)
    connection.execute(f"{_INSERT} ON CONFLICT DO NOTHING", row)


def _row(connection: Connection, step: StepRecord, text: str | None) -> tuple[Any, ...]:
    if text is None or step.state is not StepState.DONE:
        return _values(step, _NOTHING)
    data = text.encode()
    if len(data) > INLINE_BYTES:
        return _values(step, (None, put_blob(connection, data)))
    return _values(step, (text, digest_bytes(data)))


def _values(step: StepRecord, output: tuple[str | None, str | None]) -> tuple[Any, ...]:
    return (
        step.run_id,
        step.key,
        step.seq,
        step.kind.value,
        step.effect.value,
        step.state.value,
        step.input_hash,
        *output,
        step.slot,
        step.receipt_id,
        compact_json(step.error.to_json()) if step.error is not None else None,
        compact_json(step.detail) if step.detail else None,
        step.started_at,
        step.ended_at,
    )


def load_journal(connection: Connection, run: RunRecord) -> dict[str, StepRecord]:
    """Return a run's steps by key in order, those shared with its ancestors included."""
    lineage: list[tuple[RunRecord, int | None]] = [(run, None)]
    current = run
    while current.parent_id is not None:
        limit = current.parent_seq
        current = load_run(connection, current.parent_id)
        if any(current.id == known.id for known, _ in lineage):
            raise RowDamaged(
                f"Run {run.id} is among its own ancestors: row {current.id} of runs was altered",
                fix="Restore a backup of .callboard, or see `callboard doctor`.",
                table="runs",
            )
        lineage.append((current, limit))
    journal: dict[str, StepRecord] = {}
    ceiling: int | None = None
    picked: list[list[StepRecord]] = []
    for ancestor, limit in lineage:
        ceiling = limit if ceiling is None else min(ceiling, limit or 0)
        picked.append(_steps_up_to(connection, ancestor.id, ceiling))
    for steps in reversed(picked):
        for step in steps:
            journal.pop(step.key, None)
            journal[step.key] = step
    return journal


def _steps_up_to(connection: Connection, run_id: str, ceiling: int | None) -> list[StepRecord]:
    if ceiling is None:
        rows = connection.execute(
            "SELECT * FROM steps WHERE run_id = :run_id ORDER BY seq", {"run_id": run_id}
        )
    else:
        rows = connection.execute(
            # Of what was not finished only an interrupted `once` effect is handed on: whether it
            # happened must be found out before anybody does it again.
            "SELECT * FROM steps WHERE run_id = :run_id AND seq <= :ceiling"
            " AND (state = 'done' OR (effect = 'once' AND state IN ('intent', 'unknown')))"
            " ORDER BY seq",
            {"run_id": run_id, "ceiling": ceiling},
        )
    # All of them first: one that cannot be read must not leave a reader on an old snapshot.
    return [_record(row) for row in rows.fetchall()]


def step_keys(connection: Connection, run_id: str) -> frozenset[str]:
    """Return the keys of the steps that are a run's own."""
    rows = connection.execute("SELECT key FROM steps WHERE run_id = :run_id", {"run_id": run_id})
    return frozenset(row["key"] for row in rows)


def output_of(connection: Connection, step: StepRecord) -> Json:
    """Return a step's output, from its blob if it is large; an altered one is an error."""
    if step.is_altered:
        raise StepAltered(step)
    if step.output is not None or step.output_hash is None:
        return step.output
    row = connection.execute(
        "SELECT output FROM steps WHERE run_id = :run_id AND key = :key",
        {"run_id": step.run_id, "key": step.key},
    ).fetchone()
    if row is not None and row["output"] is not None:
        return decode(row["output"])
    try:
        return decode(get_blob(connection, step.output_hash).decode())
    except (NotFound, StoreCorrupt, ValueError) as error:
        raise StepAltered(step) from error


def with_output(connection: Connection, step: StepRecord) -> StepRecord:
    """Return the step with its output filled in."""
    return replace(step, output=output_of(connection, step))


def find_step(connection: Connection, run: RunRecord, key: str) -> StepRecord:
    """Return one step of a run, output included; an unknown key names the known ones."""
    journal = load_journal(connection, run)
    if key not in journal:
        known = ", ".join(list(journal)[:12]) or "none yet"
        raise NotFound(
            f"Run {run.id} has no step {key!r}",
            fix=f"Its steps are: {known}. `callboard runs steps {run.id}` shows all.",
            run_id=run.id,
            key=key,
        )
    return with_output(connection, journal[key])


def is_altered(state: str, text: str | None, output_hash: str | None) -> bool:
    """Say whether an output is not the one that was recorded with its hash; blobs name theirs."""
    if state == _DONE and output_hash is None:
        return True
    return text is not None and digest_bytes(text.encode("utf-8", "replace")) != output_hash


def altered_steps(connection: Connection) -> list[tuple[str, str]]:
    """Return run and key of the finished steps whose output is not what was recorded."""
    found: list[tuple[str, str]] = []
    for row in connection.execute("SELECT run_id, key, state, output, output_hash FROM steps"):
        if is_altered(row["state"], row["output"], row["output_hash"]):
            found.append((row["run_id"], row["key"]))
    return found


@row_of("steps", "run_id", "key")
def _record(row: Any) -> StepRecord:
    text, output_hash = row["output"], row["output_hash"]
    altered = is_altered(row["state"], text, output_hash)
    return StepRecord(
        row["run_id"],
        row["key"],
        int(row["seq"]),
        _KINDS[row["kind"]],
        _EFFECTS[row["effect"]],
        _STATES[row["state"]],
        row["input_hash"],
        None if altered else decode(text),
        output_hash,
        row["slot"],
        row["receipt_id"],
        decode_error(row["error"]),
        decode(row["detail"]) or {},
        row["started_at"],
        row["ended_at"],
        altered,
    )

"""Lineage: which part of an old run's journal a retry or a fork shares, and what is edited."""

from dataclasses import dataclass, replace

from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.vocabulary.run import RunRecord, RunState, StepRecord, StepState
from callboard.engine.execution import ANY_INPUTS
from callboard.store.connection import Connection
from callboard.store.journal.runs import load_run
from callboard.store.journal.steps import insert_step, load_journal


@dataclass(frozen=True, slots=True)
class Cut:
    """Everything up to `seq` is shared; `edited` steps are taken over with a new output."""

    seq: int
    edited: tuple[StepRecord, ...] = ()


def plan_retry(connection: Connection, run_id: str, from_key: str | None = None) -> Cut:
    """Keep all that is finished; the failed steps are executed again.

    With `from_key` that step, or everything below that path, and what came later is as well.
    """
    run = load_run(connection, run_id)
    if run.state not in (RunState.FAILED, RunState.CANCELLED):
        raise Conflict(
            f"Run {run_id} is {run.state.value}: only a failed or cancelled run can be retried",
            fix="`callboard runs fork` makes a variant of any run.",
            run_id=run_id,
            state=run.state.value,
        )
    journal = load_journal(connection, run)
    newest = max((step.seq for step in journal.values()), default=0)
    if from_key is None:
        return Cut(newest)
    again = [
        step.seq
        for key, step in journal.items()
        if key == from_key or key.startswith(f"{from_key}/")
    ]
    return Cut(min(again, default=newest + 1) - 1)


def plan_fork(
    connection: Connection, run_id: str, from_step: str | None, edits: dict[str, Json]
) -> Cut:
    """Keep what was finished before a step, or before the first edited slot."""
    journal = load_journal(connection, load_run(connection, run_id))
    edited = [replace(_step_of_slot(journal, run_id, n), output=v) for n, v in edits.items()]
    marks = [step.seq for step in edited]
    if from_step is not None:
        marks.append(_step(journal, run_id, from_step).seq)
    if not marks:
        raise InvalidInput(
            "A fork needs a place to start from",
            fix="Give a step with --from, or a slot to edit with --set.",
        )
    cut = min(marks)
    if from_step is not None and edited and journal[from_step].seq < min(s.seq for s in edited):
        raise InvalidInput(
            f"The edited slot is made after step {from_step!r}, which would make it anew",
            fix="Leave out --from: the fork starts right after the edited slot.",
        )
    return Cut(cut - 1, tuple(edited))


def insert_edits(connection: Connection, run: RunRecord, cut: Cut) -> None:
    """Store the edited steps as finished steps of the new run, valid for any inputs."""
    for number, step in enumerate(sorted(cut.edited, key=lambda s: s.seq), start=1):
        insert_step(
            connection,
            replace(
                step,
                run_id=run.id,
                seq=cut.seq + number,
                input_hash=ANY_INPUTS,
                state=StepState.DONE,
                receipt_id=None,
                error=None,
                detail={"edited": True, "was": step.output_hash},
            ),
        )


def _step(journal: dict[str, StepRecord], run_id: str, key: str) -> StepRecord:
    if key in journal:
        return journal[key]
    raise NotFound(
        f"Run {run_id} has no step {key!r}",
        fix=f"Its steps are: {', '.join(list(journal)[:12]) or 'none yet'}.",
        run_id=run_id,
        key=key,
    )


def _step_of_slot(journal: dict[str, StepRecord], run_id: str, slot: str) -> StepRecord:
    for step in reversed(journal.values()):
        if step.slot == slot:
            return step
    known = sorted({step.slot for step in journal.values() if step.slot is not None})
    raise NotFound(
        f"Run {run_id} has no slot {slot!r}",
        fix=f"Its slots are: {', '.join(known) or 'none yet'}.",
        run_id=run_id,
        slot=slot,
    )

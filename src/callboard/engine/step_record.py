"""Records of steps that have ended: handed in while the run goes on, or awaited for `once`."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.events import EventBody
from callboard.core.run_events import StepDone
from callboard.core.run_events import StepFailed as StepFailedEvent
from callboard.core.vocabulary.run import Effect, StepRecord, StepState
from callboard.engine.errors import NotJson, StepFailed
from callboard.engine.live import LiveRun
from callboard.engine.scope import StepPlan, StepScope
from callboard.store.connection import Connection, RuleBroken
from callboard.store.journal.events import preview_of, step_done_row
from callboard.store.journal.steps import INLINE_BYTES, complete_step, step_row
from callboard.store.writer import Rows, Statement

# A run of steps that never wait must still hear of a pause or a cancel.
_STEPS_PER_TURN = 16


@dataclass(slots=True)
class StepEnd:
    """What executing gave: an output with its JSON text, or an error."""

    output: Json
    text: str
    error: Exception | None = None


def end_of(key: str, output: Json) -> StepEnd:
    """Return an output as it will be read back: what a step gives is what its replay gives."""
    text = _json_of(key, output)
    return StepEnd(json.loads(text) if isinstance(output, dict | list | tuple) else output, text)


async def record_step(
    live: LiveRun,
    plan: StepPlan,
    scope: StepScope,
    done: StepEnd,
    started_at: int,
    started: float,
) -> None:
    """Record how a step ended; of one that may be repeated, the run does not wait for it."""
    backstage = live.backstage
    duration_ms = int((backstage.clock.monotonic() - started) * 1000)
    failure = backstage.classifier.record(done.error) if done.error is not None else None
    step = StepRecord(
        live.record.id,
        plan.key,
        live.take_seq(),
        plan.kind,
        plan.effect,
        _state_after(plan, scope, done),
        plan.input_hash,
        slot=plan.slot if failure is None else None,
        receipt_id=scope.receipt_id,
        error=failure,
        detail=scope.detail,
        started_at=started_at,
        ended_at=backstage.clock.now_ms(),
    )
    backstage.faults.reach("step.before_record")
    if plan.effect is Effect.ONCE:
        try:
            await live.write(_recording(live, scope, step, done.text, duration_ms))
        except RuleBroken as error:
            if not scope.companions:
                raise
            # What belongs to the step cannot be stored, so the step has failed; that can be.
            scope.companions.clear()
            done.error = error
            await record_step(live, plan, scope, done, started_at, started)
            return
    else:
        _hand_in(live, scope, step, done.text, duration_ms)
    backstage.faults.reach("step.after_record")
    if live.backlog.is_full:
        await live.backlog.durable()
    elif plan.effect is Effect.ONCE or step.seq % _STEPS_PER_TURN == 0:
        await asyncio.sleep(0)


def _hand_in(
    live: LiveRun, scope: StepScope, step: StepRecord, text: str, duration_ms: int
) -> None:
    """Have a finished step stored soon; its run goes on."""
    row = None if scope.companions else step_row(step, live.owner, text)
    if row is not None:
        event = _event_row(live, scope, step, text, duration_ms)
        live.hand_in(Rows((row, event)), len(text))
        return
    recording = _recording(live, scope, step, text, duration_ms)

    def work(connection: Connection) -> None:
        try:
            recording(connection)
        except Exception:
            live.refused = step
            raise

    live.hand_in(work, len(text), has_companions=bool(scope.companions))


def refusal(live: LiveRun, error: Exception) -> tuple[ErrorRecord, Callable[[Connection], None]]:
    """Return what is told of a run whose step left what the database refused, and its record."""
    failure = live.backstage.classifier.record(error)
    if live.refused is None:
        return failure, lambda _connection: None
    now = live.backstage.clock.now_ms()
    step = replace(
        live.refused,
        state=StepState.FAILED,
        error=failure,
        slot=None,
        receipt_id=None,
        ended_at=now,
    )
    body = StepFailedEvent(step.kind.value, now - (step.started_at or now), failure.to_json())

    def work(connection: Connection) -> None:
        live.guard(complete_step(connection, step, live.owner))
        live.event(connection, body, step.key)

    return StepFailed(step.key, failure).record(), work


def _state_after(plan: StepPlan, scope: StepScope, done: StepEnd) -> StepState:
    if done.error is None:
        return StepState.DONE
    if plan.effect is not Effect.ONCE:
        return StepState.FAILED
    is_refused = isinstance(done.error, CallboardError) and done.error.is_refusal
    in_doubt = not is_refused if scope.in_doubt is None else scope.in_doubt
    return StepState.UNKNOWN if in_doubt else StepState.FAILED


def _recording(
    live: LiveRun, scope: StepScope, step: StepRecord, text: str, duration_ms: int
) -> Callable[[Connection], None]:
    event = _event_row(live, scope, step, text, duration_ms)

    def work(connection: Connection) -> None:
        for companion in scope.companions:
            companion(connection)
        live.guard(complete_step(connection, step, live.owner, text))
        connection.execute(*event)

    return work


def _event_row(
    live: LiveRun, scope: StepScope, step: StepRecord, text: str, duration_ms: int
) -> Statement:
    """Return what is told of a step that ended; what its own row holds is not stored again."""
    body: EventBody
    if step.error is not None:
        told = step.error.to_json()
        body = StepFailedEvent(step.kind.value, duration_ms, told, step.receipt_id)
    elif scope.preview is None and step.receipt_id is None and len(text.encode()) <= INLINE_BYTES:
        return step_done_row(step, duration_ms, live.record.session_id)
    else:
        shown = scope.preview if scope.preview is not None else preview_of(text)
        body = StepDone(
            step.kind.value, duration_ms, shown, step.slot, step.receipt_id, scope.detail
        )
    return live.event_row(body, step.key)


def _json_of(key: str, output: Json) -> str:
    try:
        return compact_json(output)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(
            f"Step {key!r} returned {type(output).__name__}, which JSON cannot hold: {error}",
            fix="Return text, numbers, lists and dictionaries.",
            key=key,
        ) from error

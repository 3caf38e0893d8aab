"""One step from key to record: replay, else intend, act, record. The definition of durability."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from callboard.core import tracing
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.events import EventBody
from callboard.core.run_events import StepDone, StepUnknown
from callboard.core.run_events import StepFailed as StepFailedEvent
from callboard.core.vocabulary.run import Effect, Question, StepKind, StepRecord, StepState
from callboard.engine.errors import (
    NonDeterministic,
    NotBegun,
    NotJson,
    NotNow,
    StepFailed,
    StrayCancel,
)
from callboard.engine.live import LiveRun, recorded
from callboard.engine.scope import CannotTell, Finding, Happened, NotHappened, StepScope
from callboard.engine.waiting import ask
from callboard.store.connection import Connection, RuleBroken
from callboard.store.journal.steps import complete_step, step_row
from callboard.store.writer import Rows

# The input hash of a step whose output a human supplied: it holds whatever the inputs are.
ANY_INPUTS = "*"

_INTERRUPTED = "Callboard stopped while step {key!r} was taking effect. Did it happen?"
_FORGOTTEN = (
    "The journal of this run has lost its end. Step {key!r} may have taken effect before that."
    " Did it happen?"
)
_PREVIEW_CHARS = 200
_BEFORE = "before"
# Replaying never waits, so a long journal lets other runs have the loop now and then.
_REPLAYS_PER_TURN = 500
_STEPS_PER_TURN = 16


@dataclass(slots=True)
class StepPlan:
    """A step that a choreography asks for."""

    key: str
    act: Callable[[StepScope], Awaitable[Json]]
    input_hash: str
    kind: StepKind
    effect: Effect
    slot: str | None
    # Looks before the intent is stored; what it saw is stored with it and given to the probe.
    observe: Callable[[], Awaitable[Json]] | None
    probe: Callable[[Json], Awaitable[Finding]] | None
    confirm: Callable[[StepScope, Json], Awaitable[Json]] | None

    @property
    def may_touch(self) -> bool:
        """Whether it may change something outside as soon as it begins.

        An agent's step only reads before its request is sent, and the gate waits by itself.
        """
        return self.effect is Effect.IDEMPOTENT and self.kind is not StepKind.AGENT


async def perform(live: LiveRun, plan: StepPlan) -> Json:
    """Return the journaled result of a step, executing it first if there is none."""
    live.claim_key(plan.key)
    known = live.journal.get(plan.key)
    if known is not None:
        check_inputs(live, known, plan.input_hash)
        if _is_settled(live, known):
            if len(live.keys) % _REPLAYS_PER_TURN == 0:
                await asyncio.sleep(0)
            return replay(live, known)
        if plan.effect is Effect.ONCE:
            return await _resolve_unknown(live, plan, known)
    elif plan.effect is Effect.ONCE and await live.may_have_begun(plan.key):
        return await _resolve_unknown(live, plan, None)
    await live.admit()
    return await _execute(live, plan)


def _is_settled(live: LiveRun, known: StepRecord) -> bool:
    """Say whether a journaled step is to be replayed as it is.

    One that failed in doubt fails the same way whenever its own run is replayed. A retry or a
    fork finds out first what became of its effect.
    """
    if known.state in (StepState.DONE, StepState.FAILED):
        return True
    return known.error is not None and known.run_id == live.record.id


def check_inputs(live: LiveRun, known: StepRecord, input_hash: str) -> None:
    """Refuse to reuse a journaled step for other inputs than it was made from."""
    if known.input_hash in (input_hash, ANY_INPUTS):
        return
    raise NonDeterministic(
        f"Step {known.key!r} of run {live.record.id} was journaled with other inputs",
        fix="Undo the change to the choreography or its inputs, or fork the run before this step.",
        key=known.key,
        journaled=known.input_hash,
        now=input_hash,
    )


def replay(live: LiveRun, known: StepRecord) -> Json:
    """Return or raise again what the journal holds."""
    if known.error is not None:
        raise StepFailed(known.key, known.error)
    return recorded(live, known)


@dataclass(slots=True)
class _Done:
    """What executing gave: an output with its JSON text, or an error."""

    output: Json
    text: str
    error: Exception | None = None


async def _execute(live: LiveRun, plan: StepPlan) -> Json:
    trace = live.backstage.trace
    if not trace.is_on:
        return await _carry_out(live, plan)
    said = {
        tracing.STEP: plan.key,
        tracing.STEP_KIND: plan.kind.value,
        tracing.STEP_EFFECT: plan.effect.value,
        tracing.RUN: live.record.id,
        tracing.CONVERSATION: live.record.session_id,
    }
    with trace.span(f"step {plan.kind.value}", said):
        return await _carry_out(live, plan)


async def _carry_out(live: LiveRun, plan: StepPlan) -> Json:
    clock = live.backstage.clock
    scope = StepScope(live.record.id, plan.key)
    started_at, started = clock.now_ms(), clock.monotonic()
    live.enter(plan.key, plan.kind, plan.effect, started)
    try:
        if plan.effect is Effect.ONCE:
            done = await _finish_even_if_cancelled(live, plan, scope, started_at, started)
        else:
            if plan.may_touch or live.backlog.has_companions:
                await live.backlog.durable()
            done = await _act(plan, scope)
            await _record(live, plan, scope, done, started_at, started)
    except NotNow:
        live.free_key(plan.key)
        raise
    finally:
        live.leave(plan.key)
    if done.error is not None:
        failure = live.backstage.classifier.record(done.error)
        raise StepFailed(plan.key, failure) from done.error
    return done.output


async def _act(plan: StepPlan, scope: StepScope) -> _Done:
    try:
        return _done(plan.key, await plan.act(scope))
    except NotNow as error:
        if plan.effect is Effect.ONCE:
            return _Done(None, "null", error)
        raise
    except asyncio.CancelledError:
        if is_cancelled_from_outside():
            raise
        return _Done(None, "null", StrayCancel(f"Step {plan.key!r} was cancelled from inside"))
    except Exception as error:  # noqa: BLE001 - the border of a step: every failure is journaled
        return _Done(None, "null", error)


async def _finish_even_if_cancelled(
    live: LiveRun, plan: StepPlan, scope: StepScope, started_at: int, started: float
) -> _Done:
    """Intend, act and record without letting a cancel tear the effect from its record.

    A cancel that comes before the effect has begun keeps it from beginning, and that is on record.
    """
    is_stopped = False

    async def whole() -> _Done:
        await _intend(live, plan, scope, started_at)
        if is_stopped:
            done = _Done(None, "null", NotBegun(f"Step {plan.key!r} was cancelled before it began"))
        else:
            done = await _act(plan, scope)
        await _record(live, plan, scope, done, started_at, started)
        return done

    work = asyncio.ensure_future(whole())
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        is_stopped = True
        # However often somebody cancels: the effect is under way and must be put on record.
        while not work.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({work})
        if not work.cancelled() and (halt := work.exception()) is not None:
            raise halt from None
        raise


async def _intend(live: LiveRun, plan: StepPlan, scope: StepScope, now: int) -> None:
    if plan.observe is not None:
        scope.detail[_BEFORE] = await plan.observe()
    step = StepRecord(
        live.record.id,
        plan.key,
        live.next_seq,
        plan.kind,
        plan.effect,
        StepState.INTENT,
        plan.input_hash,
        slot=plan.slot,
        detail=dict(scope.detail),
        started_at=now,
    )
    live.backstage.faults.reach("step.before_intent")
    await live.write(lambda connection: live.guard(complete_step(connection, step, live.owner)))
    live.backstage.faults.reach("step.after_intent")


async def _record(
    live: LiveRun,
    plan: StepPlan,
    scope: StepScope,
    done: _Done,
    started_at: int,
    started: float,
) -> None:
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
    body: EventBody
    if failure is None:
        shown = scope.preview if scope.preview is not None else _preview(done)
        body = StepDone(
            plan.kind.value, duration_ms, shown, plan.slot, scope.receipt_id, scope.detail
        )
    else:
        body = StepFailedEvent(plan.kind.value, duration_ms, failure.to_json(), scope.receipt_id)

    backstage.faults.reach("step.before_record")
    if plan.effect is Effect.ONCE:
        try:
            await live.write(_recording(live, scope, step, done.text, body))
        except RuleBroken as error:
            if not scope.companions:
                raise
            # What belongs to the step cannot be stored, so the step has failed; that can be.
            scope.companions.clear()
            done.error = error
            await _record(live, plan, scope, done, started_at, started)
            return
    else:
        _hand_in(live, scope, step, done.text, body)
    backstage.faults.reach("step.after_record")
    if live.backlog.is_full:
        await live.backlog.durable()
    elif step.seq % _STEPS_PER_TURN == 0:
        # A run of steps that never wait must still hear of a pause or a cancel.
        await asyncio.sleep(0)


def _hand_in(live: LiveRun, scope: StepScope, step: StepRecord, text: str, body: EventBody) -> None:
    """Have a finished step stored soon; its run goes on."""
    row = None if scope.companions else step_row(step, live.owner, text)
    if row is not None:
        live.hand_in(Rows((row, live.event_row(body, step.key))), len(text))
        return
    recording = _recording(live, scope, step, text, body)

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


def _state_after(plan: StepPlan, scope: StepScope, done: _Done) -> StepState:
    if done.error is None:
        return StepState.DONE
    if plan.effect is not Effect.ONCE:
        return StepState.FAILED
    is_refused = isinstance(done.error, CallboardError) and done.error.is_refusal
    in_doubt = not is_refused if scope.in_doubt is None else scope.in_doubt
    return StepState.UNKNOWN if in_doubt else StepState.FAILED


def _recording(
    live: LiveRun, scope: StepScope, step: StepRecord, text: str, body: EventBody
) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        for companion in scope.companions:
            companion(connection)
        live.guard(complete_step(connection, step, live.owner, text))
        live.event(connection, body, step.key)

    return work


async def _resolve_unknown(live: LiveRun, plan: StepPlan, known: StepRecord | None) -> Json:
    """Find out whether an interrupted or forgotten `once` effect took place; never just do it."""
    detail = {} if known is None else known.detail
    intent_seq = live.next_seq if known is None else known.seq

    def mark(connection: Connection) -> None:
        live.event(connection, StepUnknown(plan.kind.value), plan.key)

    await live.write(mark)
    finding = await _probe(live, plan, detail.get(_BEFORE))
    if isinstance(finding, CannotTell):
        told = _FORGOTTEN if known is None or "lost" in detail else _INTERRUPTED
        finding = await _ask_what_happened(live, plan, intent_seq, told.format(key=plan.key))
    if isinstance(finding, NotHappened):
        await live.admit()
        return await _execute(live, plan)
    return await _accept(live, plan, finding)


async def _probe(live: LiveRun, plan: StepPlan, before: Json) -> Finding:
    if plan.probe is None:
        return CannotTell()
    try:
        return await plan.probe(before)
    except Exception as error:  # noqa: BLE001 - a probe that fails leaves the human to decide
        told = live.backstage.classifier.record(error).to_json()
        body = StepFailedEvent(plan.kind.value, 0, {**told, "code": "probe_failed"})
        await live.write(lambda connection: live.event(connection, body, plan.key))
        return CannotTell()


async def _ask_what_happened(
    live: LiveRun, plan: StepPlan, intent_seq: int, told: str
) -> Happened | NotHappened:
    # An answer holds for the attempt it was given about. If that led to a new attempt, which was
    # interrupted as well, the human is asked anew.
    number = 1
    while (earlier := live.journal.get(f"{plan.key}/unknown/{number}")) is not None:
        if earlier.seq >= intent_seq:
            break
        number += 1
    key = f"{plan.key}/unknown/{number}"
    question = Question(
        told,
        choices=("happened", "did not happen"),
        detail={"step": plan.key, "kind": plan.kind.value},
    )
    answer = await ask(live, key, question, ANY_INPUTS)
    return Happened() if answer == "happened" else NotHappened()


async def _accept(live: LiveRun, plan: StepPlan, finding: Happened) -> Json:
    scope = StepScope(live.record.id, plan.key)
    scope.detail["resolved"] = "the effect had taken place"
    output = finding.value
    if plan.confirm is not None:
        output = await plan.confirm(scope, finding.value)
    clock = live.backstage.clock
    done = _done(plan.key, output)
    await _record(live, plan, scope, done, clock.now_ms(), clock.monotonic())
    return done.output


def is_cancelled_from_outside() -> bool:
    """Say whether the present task was asked to stop, or something inside it only behaves so."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _done(key: str, output: Json) -> _Done:
    """Return an output as it will be read back: what a step gives is what its replay gives."""
    text = _json_of(key, output)
    return _Done(json.loads(text) if isinstance(output, dict | list | tuple) else output, text)


def _preview(done: _Done) -> str:
    """Return the beginning of an output, on one line, as a reader of events sees it."""
    text = done.output if isinstance(done.output, str) else done.text
    return " ".join(text[:_PREVIEW_CHARS].split())


def _json_of(key: str, output: Json) -> str:
    try:
        return compact_json(output)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(
            f"Step {key!r} returned {type(output).__name__}, which JSON cannot hold: {error}",
            fix="Return text, numbers, lists and dictionaries.",
            key=key,
        ) from error

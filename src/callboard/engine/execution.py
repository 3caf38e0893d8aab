"""One step from key to record: replay, else intend, act, record. The definition of durability."""

import asyncio
import contextlib

from callboard.core import tracing
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import Effect, StepRecord, StepState
from callboard.engine.doubt import ANY_INPUTS, BEFORE, accept, find_out
from callboard.engine.errors import NonDeterministic, NotBegun, NotNow, StepFailed, StrayCancel
from callboard.engine.live import LiveRun, recorded
from callboard.engine.scope import Happened, StepPlan, StepScope
from callboard.engine.step_record import StepEnd, end_of, record_step
from callboard.store.journal.steps import complete_step

# Replaying never waits, so a long journal lets other runs have the loop now and then.
_REPLAYS_PER_TURN = 500


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
    if plan.effect is not Effect.ONCE and (plan.may_touch or live.backlog.has_companions):
        await live.backlog.durable()
        # Whoever waited for the same commit to pause the run comes first.
        await asyncio.sleep(0)
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


async def _resolve_unknown(live: LiveRun, plan: StepPlan, known: StepRecord | None) -> Json:
    finding = await find_out(live, plan, known)
    if isinstance(finding, Happened):
        return await accept(live, plan, finding)
    await live.admit()
    return await _execute(live, plan)


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
            done = await _act(plan, scope)
            await record_step(live, plan, scope, done, started_at, started)
    except NotNow:
        live.free_key(plan.key)
        raise
    finally:
        live.leave(plan.key)
    if done.error is not None:
        failure = live.backstage.classifier.record(done.error)
        raise StepFailed(plan.key, failure) from done.error
    return done.output


async def _act(plan: StepPlan, scope: StepScope) -> StepEnd:
    try:
        return end_of(plan.key, await plan.act(scope))
    except NotNow as error:
        if plan.effect is Effect.ONCE:
            return StepEnd(None, "null", error)
        raise
    except asyncio.CancelledError:
        if is_cancelled_from_outside():
            raise
        return StepEnd(None, "null", StrayCancel(f"Step {plan.key!r} was cancelled from inside"))
    except Exception as error:  # noqa: BLE001 - the border of a step: every failure is journaled
        return StepEnd(None, "null", error)


async def _finish_even_if_cancelled(
    live: LiveRun, plan: StepPlan, scope: StepScope, started_at: int, started: float
) -> StepEnd:
    """Intend, act and record without letting a cancel tear the effect from its record.

    A cancel that comes before the effect has begun keeps it from beginning, and that is on record.
    """
    is_stopped = False

    async def whole() -> StepEnd:
        await _intend(live, plan, scope, started_at)
        if is_stopped:
            done = StepEnd(
                None, "null", NotBegun(f"Step {plan.key!r} was cancelled before it began")
            )
        else:
            done = await _act(plan, scope)
        await record_step(live, plan, scope, done, started_at, started)
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
        scope.detail[BEFORE] = await plan.observe()
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


def is_cancelled_from_outside() -> bool:
    """Say whether the present task was asked to stop, or something inside it only behaves so."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0

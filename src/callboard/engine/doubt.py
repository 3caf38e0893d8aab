"""Doubt: whether an interrupted or forgotten `once` effect took place. It is never just done."""

from callboard.core.canonical import Json
from callboard.core.run_events import StepFailed as StepFailedEvent
from callboard.core.run_events import StepUnknown
from callboard.core.vocabulary.run import Question, StepRecord
from callboard.engine.live import LiveRun
from callboard.engine.scope import (
    CannotTell,
    Finding,
    Happened,
    NotHappened,
    StepPlan,
    StepScope,
)
from callboard.engine.step_record import end_of, record_step
from callboard.engine.waiting import ask
from callboard.store.connection import Connection

# The input hash of a step whose output a human supplied: it holds whatever the inputs are.
ANY_INPUTS = "*"
# Where an intent keeps what was observed before it.
BEFORE = "before"

_INTERRUPTED = "Callboard stopped while step {key!r} was taking effect. Did it happen?"
_FORGOTTEN = (
    "The journal of this run has lost its end. Step {key!r} may have taken effect before that."
    " Did it happen?"
)


async def find_out(
    live: LiveRun, plan: StepPlan, known: StepRecord | None
) -> Happened | NotHappened:
    """Find out whether an interrupted or forgotten effect took place: its probe, or the human."""
    detail = {} if known is None else known.detail
    intent_seq = live.next_seq if known is None else known.seq

    def mark(connection: Connection) -> None:
        live.event(connection, StepUnknown(plan.kind.value), plan.key)

    await live.write(mark)
    finding = await _probe(live, plan, detail.get(BEFORE))
    if isinstance(finding, CannotTell):
        told = _FORGOTTEN if known is None or "lost" in detail else _INTERRUPTED
        return await _ask_what_happened(live, plan, intent_seq, told.format(key=plan.key))
    return finding


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


async def accept(live: LiveRun, plan: StepPlan, finding: Happened) -> Json:
    """Put an effect on record that turned out to have taken place."""
    scope = StepScope(live.record.id, plan.key)
    scope.detail["resolved"] = "the effect had taken place"
    output = finding.value
    if plan.confirm is not None:
        output = await plan.confirm(scope, finding.value)
    clock = live.backstage.clock
    done = end_of(plan.key, output)
    await record_step(live, plan, scope, done, clock.now_ms(), clock.monotonic())
    return done.output

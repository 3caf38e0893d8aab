"""Steps that wait: for the human, and for time."""

import asyncio
from dataclasses import replace

from callboard.core.canonical import Json, compact_json, digest
from callboard.core.run_events import QuestionAsked, StepDone
from callboard.core.vocabulary.run import Answer, Effect, Question, StepKind, StepRecord, StepState
from callboard.engine.errors import NonDeterministic
from callboard.engine.live import LiveRun, recorded
from callboard.store.connection import Connection
from callboard.store.journal.questions import find_question, insert_question
from callboard.store.journal.steps import complete_step


async def ask(live: LiveRun, key: str, question: Question, input_hash: str) -> Json:
    """Return the answer to a question, asking it first if nobody has."""
    live.claim_key(key)
    known = live.journal.get(key)
    if known is not None and known.state is StepState.DONE:
        if known.input_hash not in (input_hash, "*"):
            raise NonDeterministic(
                f"Question {key!r} of run {live.record.id} was asked in other words before",
                fix="Undo the change, or fork the run before this question.",
                key=key,
            )
        return recorded(live, known)
    await live.admit()
    asked = live.backstage.database.read(
        lambda connection: find_question(connection, live.record.id, key)
    )
    if asked is None:
        asked = await _pose(live, key, question)
    value = asked.value if not asked.is_open else await _wait(live, asked)
    await live.admit()
    step = StepRecord(
        live.record.id,
        key,
        live.take_seq(),
        StepKind.HUMAN,
        Effect.IDEMPOTENT,
        StepState.DONE,
        input_hash,
        output=value,
        started_at=asked.asked_at,
        ended_at=live.backstage.clock.now_ms(),
    )
    await _complete(live, step, StepDone(StepKind.HUMAN.value, 0, str(value)[:200]))
    return value


async def _pose(live: LiveRun, key: str, question: Question) -> Answer:
    backstage = live.backstage
    asked = Answer(
        id=backstage.ids.make("question"),
        run_id=live.record.id,
        key=key,
        question=question,
        asked_at=backstage.clock.now_ms(),
    )

    def work(connection: Connection) -> None:
        insert_question(connection, asked)
        live.event(connection, QuestionAsked(asked.id, question.text, question.choices), key)

    live.backstage.faults.reach("question.before_ask")
    await live.write(work)
    live.backstage.faults.reach("question.after_ask")
    return asked


async def _wait(live: LiveRun, asked: Answer) -> Json:
    future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
    live.questions[asked.id] = future
    live.chore(live.settle())
    try:
        return await future
    finally:
        del live.questions[asked.id]
        live.chore(live.settle())


async def nap(live: LiveRun, key: str, seconds: float) -> None:
    """Wait until a stored time, however often the process is restarted meanwhile."""
    live.claim_key(key)
    known = live.journal.get(key)
    if known is not None and known.state is StepState.DONE:
        return
    await live.admit()
    now = live.backstage.clock.now_ms()
    if known is None:
        known = StepRecord(
            live.record.id,
            key,
            live.next_seq,
            StepKind.SLEEP,
            Effect.IDEMPOTENT,
            StepState.INTENT,
            digest(seconds),
            detail={"wake_at": now + int(seconds * 1000)},
            started_at=now,
        )
        intent = known
        live.backstage.faults.reach("step.before_intent")
        await live.write(
            lambda connection: live.guard(complete_step(connection, intent, live.owner))
        )
        live.backstage.faults.reach("step.after_intent")
    # A clock set back must not make the nap longer than it was meant to be.
    left_seconds = min(seconds, max(0.0, (int(known.detail["wake_at"]) - now) / 1000))
    live.sleepers += 1
    live.chore(live.settle())
    try:
        await asyncio.sleep(left_seconds)
    finally:
        live.sleepers -= 1
        live.chore(live.settle())
    await live.admit()
    ended_at = live.backstage.clock.now_ms()
    step = replace(known, seq=live.take_seq(), state=StepState.DONE, ended_at=ended_at)
    await _complete(live, step, StepDone(StepKind.SLEEP.value, int(seconds * 1000)))


async def _complete(live: LiveRun, step: StepRecord, body: StepDone) -> None:
    text = compact_json(step.output)

    def work(connection: Connection) -> None:
        live.guard(complete_step(connection, step, live.owner, text))
        live.event(connection, body, step.key)

    live.backstage.faults.reach("step.before_record")
    await live.write(work)
    live.backstage.faults.reach("step.after_record")

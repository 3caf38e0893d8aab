"""Engine: starts, signals, answers, retries, forks, recovers and follows runs."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Literal

from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.core.events import Event, EventBody
from callboard.core.run_events import QuestionAnswered, RunStarted
from callboard.core.vocabulary.run import (
    Answer,
    RunRecord,
    RunState,
    SignalKind,
    SignalRecord,
)
from callboard.engine.changes import Changes
from callboard.engine.dispatcher import Dispatcher
from callboard.engine.feed import Feed
from callboard.engine.lineage import Cut, insert_edits, plan_fork, plan_retry
from callboard.engine.ownership import Ownership
from callboard.engine.recovery import MOST_DEATHS, Recovery
from callboard.engine.scope import Backstage
from callboard.engine.signals import Signals
from callboard.store.backlog import current
from callboard.store.connection import Connection
from callboard.store.journal.events import append_event
from callboard.store.journal.questions import give_answer, load_question
from callboard.store.journal.runs import insert_run, load_run

_log = logging.getLogger(__name__)

Guard = Callable[[Connection], None]
"""Objects to a new run by raising, in the transaction that would store it."""

Companion = Callable[[Connection, RunRecord], None]
"""Stores what belongs to a new run, in the transaction that stores the run."""

SETTLED = frozenset(
    {RunState.WAITING, RunState.PAUSED, RunState.DONE, RunState.FAILED, RunState.CANCELLED}
)


class Engine:
    """The durable machinery of one project in one process."""

    def __init__(self, backstage: Backstage, ownership: Ownership, dispatcher: Dispatcher) -> None:
        """Wire the parts; nothing runs before `start`."""
        self._backstage = backstage
        self._database = backstage.database
        self._ownership = ownership
        self._dispatcher = dispatcher
        self._changes = Changes(backstage.database)
        self._feed = Feed(backstage.database, self._changes)
        self._recovery = Recovery(backstage, ownership, dispatcher)
        self._signals = Signals(backstage, ownership, dispatcher, self._changes)

    async def start(self) -> None:
        """Begin to execute runs."""
        await self._dispatcher.start()

    async def stop(self) -> None:
        """Let go of every live run; each can be resumed later."""
        await self._recovery.stop()
        await self._dispatcher.stop()
        await self._feed.stop()

    async def create(
        self,
        choreography: str,
        args: dict[str, Json],
        session_id: str,
        *,
        title: str = "",
        dispatch: bool = True,
        guard: Guard | None = None,
        together: Companion | None = None,
    ) -> RunRecord:
        """Store a new run and see to it that it is executed, unless its guard objects."""
        self._backstage.resolve(choreography)
        now = self._backstage.clock.now_ms()
        run = RunRecord(
            id=self._backstage.ids.make("run"),
            session_id=session_id,
            choreography=choreography,
            state=RunState.PENDING,
            title=title or choreography,
            args=args,
            created_at=now,
        )
        return await self._insert(run, None, dispatch, guard, together)

    async def retry(
        self,
        run_id: str,
        *,
        from_key: str | None = None,
        dispatch: bool = True,
        guard: Guard | None = None,
        together: Companion | None = None,
    ) -> RunRecord:
        """Make a new run that keeps everything a failed or cancelled one had finished.

        With `from_key` only what was finished before that step, or the first below that path.
        """
        cut = self._database.read(lambda connection: plan_retry(connection, run_id, from_key))
        return await self._continue(run_id, cut, "retry", dispatch, guard, together)

    async def fork(
        self,
        run_id: str,
        *,
        from_step: str | None = None,
        edits: dict[str, Json] | None = None,
        dispatch: bool = True,
    ) -> RunRecord:
        """Make a new run from an old one's past: before a step, or with edited slots."""
        cut = self._database.read(
            lambda connection: plan_fork(connection, run_id, from_step, edits or {})
        )
        return await self._continue(run_id, cut, "fork", dispatch)

    async def _continue(
        self,
        run_id: str,
        cut: Cut,
        origin: str,
        dispatch: bool,
        guard: Guard | None = None,
        together: Companion | None = None,
    ) -> RunRecord:
        old = self.load(run_id)
        run = RunRecord(
            id=self._backstage.ids.make("run"),
            session_id=old.session_id,
            choreography=old.choreography,
            state=RunState.PENDING,
            title=old.title,
            args=old.args,
            parent_id=old.id,
            parent_seq=cut.seq,
            origin=origin,
            created_at=self._backstage.clock.now_ms(),
        )
        return await self._insert(run, cut, dispatch, guard, together)

    async def _insert(
        self,
        run: RunRecord,
        cut: Cut | None,
        dispatch: bool,
        guard: Guard | None,
        together: Companion | None,
    ) -> RunRecord:
        body = RunStarted(run.choreography, run.title, run.parent_id, run.origin)

        def work(connection: Connection) -> None:
            if guard is not None:
                guard(connection)
            insert_run(connection, run)
            if cut is not None:
                insert_edits(connection, run, cut)
            self._event(connection, run, body)
            if together is not None:
                together(connection, run)

        async def store() -> None:
            # A run may start another: that one must not know more than is kept of the first.
            await self._database.write(work, current())
            if dispatch:
                await self._dispatcher.dispatch(run.id, is_new=cut is None)

        # Whoever asks may be cancelled; a run that is stored is executed all the same.
        await asyncio.shield(asyncio.ensure_future(store()))
        return run

    async def resume(self, run_id: str) -> None:
        """Execute an open run that nobody executes, such as one whose process died."""
        live = self._dispatcher.live(run_id)
        if live is not None and live.was_taken_up:
            # The watcher was quicker; whoever asks has what they want.
            live.was_taken_up = False
            return
        await self._dispatcher.dispatch(run_id)

    async def signal(self, run_id: str, kind: SignalKind, reason: str = "") -> SignalRecord:
        """Ask something of a run and return once it has taken effect."""
        return await self._signals.send(run_id, kind, reason)

    async def answer(
        self, question_id: str, value: Json, *, answered_by: str = "user", dispatch: bool = True
    ) -> Answer:
        """Answer a question; a run that nobody executes is taken up again."""
        asked = self._database.read(lambda connection: load_question(connection, question_id))
        choices = asked.question.choices
        if not asked.question.allows(value):
            raise InvalidInput(
                f"{value!r} is not an answer to {asked.question.text!r}",
                fix=f"Answer with one of: {', '.join(choices)}.",
                question_id=question_id,
            )
        run = self.load(asked.run_id)
        if run.is_terminal:
            raise Conflict(f"Run {run.id} is {run.state.value}: its question is closed")
        now = self._backstage.clock.now_ms()
        body = QuestionAnswered(question_id, value, answered_by)

        def work(connection: Connection) -> bool:
            fresh = give_answer(connection, question_id, value, answered_by, now)
            if fresh:
                self._event(connection, run, body, asked.key)
            return fresh

        if not await self._database.write(work, current()):
            raise Conflict(
                f"Question {question_id} has been answered already",
                fix=f"`callboard runs show {run.id}` shows where the run is.",
            )
        self._dispatcher.poke()
        if dispatch and run.state is not RunState.PAUSED and not self.is_executed(run):
            await self._dispatcher.dispatch(run.id)
        return self._database.read(lambda connection: load_question(connection, question_id))

    async def recover(
        self, mode: Literal["auto", "manual"] = "auto", *, most_deaths: int = MOST_DEATHS
    ) -> list[RunRecord]:
        """Resume every unfinished run without a living owner, or mark it as interrupted.

        A run whose process died so often in a row without finishing a step is given up.
        """
        return await self._recovery.recover(mode, most_deaths)

    async def wait(self, run_id: str, *, settled: bool = False) -> RunRecord:
        """Return the run once it is over, or with `settled` once nothing happens by itself."""
        while True:
            live = self._dispatcher.live(run_id)
            if live is not None:
                await live.settled.wait()
                if live.interruption is not None:
                    # Whoever hears of it may take the run up again at once.
                    if live.task is not None:
                        await asyncio.wait({live.task})
                    raise live.interruption
                if live.task is not None and not live.task.done() and not settled:
                    await asyncio.wait({live.task}, timeout=1.0)
            run = self.load(run_id)
            if run.is_terminal or (settled and run.state in SETTLED):
                return run
            await self._changes.next()

    async def events(
        self, *, run_id: str | None = None, session_id: str | None = None, after: int = 0
    ) -> AsyncGenerator[Event]:
        """Follow stored events from a point on, across processes, until the caller stops."""
        async with aclosing(
            self._feed.follow(run_id=run_id, session_id=session_id, after=after)
        ) as events:
            async for event in events:
                yield event

    def give_up(self, connection: Connection, run: RunRecord) -> None:
        """End, within a transaction, a run whose process died; `retry` goes on with it."""
        self._recovery.give_up(connection, run)

    def load(self, run_id: str) -> RunRecord:
        """Return a run as stored."""
        return self._database.read(lambda connection: load_run(connection, run_id))

    def is_executed(self, run: RunRecord) -> bool:
        """Say whether a living process has the run in its hands."""
        owner = run.owner
        if owner is None:
            return False
        return self._database.read(lambda c: self._ownership.is_alive(c, owner))

    def _event(
        self, connection: Connection, run: RunRecord, body: EventBody, key: str | None = None
    ) -> None:
        now = self._backstage.clock.now_ms()
        append_event(
            connection, body, at=now, session_id=run.session_id, run_id=run.id, step_key=key
        )

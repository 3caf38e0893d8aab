"""Sending signals: stored first, then acted on by the owner, or by the sender if there is none."""

from collections.abc import Callable

from callboard.core.errors import Conflict
from callboard.core.run_events import RunChanged, SignalAcknowledged, SignalSent
from callboard.core.vocabulary.run import RunRecord, RunState, SignalKind, SignalRecord
from callboard.engine.changes import Changes
from callboard.engine.dispatcher import Dispatcher
from callboard.engine.ownership import Ownership
from callboard.engine.scope import Backstage
from callboard.store.backlog import current
from callboard.store.connection import Connection
from callboard.store.journal.events import append_event
from callboard.store.journal.runs import claim, finish, load_run, release, set_state
from callboard.store.journal.signals import acknowledge, insert_signal, load_signal


class Signals:
    """Sends a signal and waits for its acknowledgement."""

    def __init__(
        self,
        backstage: Backstage,
        ownership: Ownership,
        dispatcher: Dispatcher,
        changes: Changes,
    ) -> None:
        """Take what is needed to reach an owner in any process."""
        self._backstage = backstage
        self._database = backstage.database
        self._ownership = ownership
        self._dispatcher = dispatcher
        self._changes = changes

    async def send(self, run_id: str, kind: SignalKind, reason: str) -> SignalRecord:
        """Store a signal, have it acted on, and return it acknowledged."""
        signal = SignalRecord(
            id=self._backstage.ids.make("signal"),
            run_id=run_id,
            kind=kind,
            created_at=self._backstage.clock.now_ms(),
            reason=reason,
        )
        ownerless = await self._database.write(
            lambda connection: self._store(connection, signal), current()
        )
        await self._follow_up(ownerless, signal)
        self._dispatcher.poke()
        return await self._acknowledged(signal)

    async def _follow_up(self, ownerless: RunRecord | None, signal: SignalRecord) -> None:
        if ownerless is None:
            return
        if signal.kind is SignalKind.RESUME:
            await self._dispatcher.dispatch(signal.run_id)
        self._backstage.settled(signal.run_id, ownerless.session_id)

    def _store(self, connection: Connection, signal: SignalRecord) -> RunRecord | None:
        """Store the signal; if nobody owns the run, let a pause or cancel take effect here."""
        run = load_run(connection, signal.run_id)
        self._check(run, signal.kind)
        insert_signal(connection, signal)
        self._event(connection, run, SignalSent(signal.id, signal.kind.value, signal.reason))
        return self._take_effect(connection, run, signal)

    def _take_effect(
        self, connection: Connection, run: RunRecord, signal: SignalRecord
    ) -> RunRecord | None:
        """Let a signal take effect on a run that nobody executes; None if somebody does."""
        if self._is_executed(connection, run):
            return None
        if signal.kind is SignalKind.RESUME:
            return run
        now = self._backstage.clock.now_ms()
        me = self._ownership.id
        claim(connection, run.id, me, run.owner)
        if signal.kind is SignalKind.CANCEL:
            state = RunState.CANCELLED
            finish(connection, run.id, state, me, now)
        else:
            state = RunState.PAUSED
            set_state(connection, run.id, state, me, now)
            release(connection, run.id, me)
        acknowledge(connection, signal.id, state, now)
        self._event(connection, run, RunChanged(state.value))
        self._event(connection, run, SignalAcknowledged(signal.id, signal.kind.value, state.value))
        return run

    def _is_executed(self, connection: Connection, run: RunRecord) -> bool:
        if run.owner == self._ownership.id:
            return self._dispatcher.has(run.id)
        return run.owner is not None and self._ownership.is_alive(connection, run.owner)

    def _check(self, run: RunRecord, kind: SignalKind) -> None:
        if run.is_terminal:
            raise Conflict(
                f"Run {run.id} is {run.state.value} and cannot be asked to {kind.value}",
                fix="`callboard runs retry` or `fork` makes a new run from it.",
                run_id=run.id,
                state=run.state.value,
            )

    async def _acknowledged(self, signal: SignalRecord) -> SignalRecord:
        while True:
            stored = self._database.read(lambda connection: load_signal(connection, signal.id))
            if stored is not None and stored.acknowledged_at is not None:
                return stored
            run = self._database.read(lambda connection: load_run(connection, signal.run_id))
            if run.is_terminal:
                now = self._backstage.clock.now_ms()
                await self._database.write(
                    lambda connection, state=run.state, now=now: acknowledge(
                        connection, signal.id, state, now
                    )
                )
                continue
            await self._changes.next()
            if self._is_stranded(signal):
                # Its owner died, or let go of it, before it could act.
                await self._follow_up(await self._database.write(self._again(signal)), signal)

    def _is_stranded(self, signal: SignalRecord) -> bool:
        def work(connection: Connection) -> bool:
            run = load_run(connection, signal.run_id)
            return not run.is_terminal and not self._is_executed(connection, run)

        return self._database.read(work)

    def _again(self, signal: SignalRecord) -> Callable[[Connection], RunRecord | None]:
        def work(connection: Connection) -> RunRecord | None:
            stored, run = load_signal(connection, signal.id), load_run(connection, signal.run_id)
            if run.is_terminal or stored is None or stored.acknowledged_at is not None:
                return None
            return self._take_effect(connection, run, signal)

        return work

    def _event(
        self,
        connection: Connection,
        run: RunRecord,
        body: SignalSent | SignalAcknowledged | RunChanged,
    ) -> None:
        now = self._backstage.clock.now_ms()
        append_event(connection, body, at=now, session_id=run.session_id, run_id=run.id)

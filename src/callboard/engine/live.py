"""LiveRun: the part of a run that exists only while this process executes it."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord
from callboard.core.run_events import RunChanged, SignalAcknowledged, StepStarted
from callboard.core.vocabulary.run import (
    Effect,
    RunRecord,
    RunState,
    SignalKind,
    SignalRecord,
    StepKind,
    StepRecord,
)
from callboard.engine.errors import (
    DuplicateKey,
    JournalUnavailable,
    TakenOver,
)
from callboard.engine.lost_steps import LostSteps
from callboard.engine.run_journal import RunJournal
from callboard.engine.scope import Backstage
from callboard.store.connection import Connection, StoreError
from callboard.store.journal.runs import Owner, finish, set_state
from callboard.store.journal.signals import acknowledge, open_signals_of
from callboard.store.journal.steps import output_of

_log = logging.getLogger(__name__)

# A step that takes longer than this announces that it has started.
ANNOUNCE_AFTER_SECONDS = 0.25


@dataclass(slots=True)
class InFlight:
    """A step that is executing."""

    key: str
    kind: StepKind
    effect: Effect
    since: float
    announced: bool = False


def recorded(live: "LiveRun", known: StepRecord) -> Json:
    """Return the output of a finished step; one that was altered ends the execution.

    The run stays as it is: once the step is put right, it can be resumed.
    """
    if known.output is not None:
        return known.output
    try:
        return live.backstage.database.read(lambda connection: output_of(connection, known))
    except StoreError as error:
        raise JournalUnavailable(error) from error


class LiveRun(RunJournal):
    """Holds the journal in memory, the gate that pausing closes, and who waits for what."""

    def __init__(
        self, backstage: Backstage, record: RunRecord, journal: dict[str, StepRecord], owner: Owner
    ) -> None:
        """Start from what the database holds."""
        super().__init__(backstage, record, owner)
        self.journal = journal
        self.state = record.state
        # The next completion number; only this process writes steps while it owns the run.
        newest = max((step.seq for step in journal.values()), default=0)
        self.next_seq = max(newest, record.parent_seq) + 1
        # Whether the journal may have forgotten steps: then no unknown `once` step is just done.
        self.in_doubt = False
        # What knows which steps the journal has lost; None for a run that began here just now.
        self.lost_steps: LostSteps | None = None
        self.keys: set[str] = set()
        self.in_flight: dict[str, InFlight] = {}
        # Question id to the future of its answer; filled by the run, resolved by the watcher.
        self.questions: dict[str, asyncio.Future[Json]] = {}
        self.sleepers = 0
        # Whether nobody asked for it now: the watcher took it up again.
        self.was_taken_up = False
        # False while an execution that ended so could not even give the run back.
        self.is_released = True
        # Set while the run is waiting, paused or over: nothing will happen by itself.
        self.settled = asyncio.Event()
        # What was asked for last: a pause, or not. The gate follows: it is closed at once, and
        # opened when the resumption is on record, so that nothing the run does comes before it.
        self._held = False
        self._open = asyncio.Event()
        self._open.set()
        self._pausing: list[SignalRecord] = []
        self._resuming: list[SignalRecord] = []
        self.cancelling: list[SignalRecord] = []
        self._chores: set[asyncio.Task[None]] = set()

    async def may_have_begun(self, key: str) -> bool:
        """Say whether a step that the journal does not hold may have been begun before."""
        if self.in_doubt or self.lost_steps is None:
            return self.in_doubt
        return await self.lost_steps.include(self.record.id, key)

    def claim_key(self, key: str) -> None:
        """Refuse a key this execution has already used."""
        if key in self.keys:
            raise DuplicateKey(
                f"Step key {key!r} is used twice in run {self.record.id}",
                fix="Give each step its own key, for example with a round number in it.",
                key=key,
            )
        self.keys.add(key)

    def free_key(self, key: str) -> None:
        """Let a key be claimed again whose step was put off."""
        self.keys.discard(key)

    def take_seq(self) -> int:
        """Return the number of the completion that is about to be recorded."""
        seq = self.next_seq
        self.next_seq += 1
        return seq

    @property
    def is_held(self) -> bool:
        """Whether new steps are kept from beginning."""
        return not self._open.is_set()

    async def admit(self) -> None:
        """Let the next step begin, or hold it while the run is paused."""
        while not self._open.is_set():
            await self._open.wait()

    def enter(self, key: str, kind: StepKind, effect: Effect, since: float) -> None:
        """Note that a step executes since a moment of the monotonic clock."""
        self.in_flight[key] = InFlight(key, kind, effect, since)

    def leave(self, key: str) -> None:
        """Note that a step no longer executes; the last one out lets a pause take effect."""
        del self.in_flight[key]
        if not self.in_flight and (self._pausing or self.questions or self.sleepers):
            self.chore(self.settle())

    async def settle(self) -> None:
        """Bring the stored state in line with what the run is doing, and acknowledge a pause."""
        await asyncio.sleep(0)
        if self.in_flight or self.state in (RunState.DONE, RunState.FAILED, RunState.CANCELLED):
            return
        if self._pausing or self._held:
            await self._enter_state(RunState.PAUSED, self._pausing)
            self._pausing = []
        elif self.questions or self.sleepers:
            await self._enter_state(RunState.WAITING, [])
        else:
            await self._enter_state(RunState.RUNNING, [])

    async def _enter_state(self, state: RunState, signals: list[SignalRecord]) -> None:
        if state is self.state and not signals:
            return
        changed = state is not self.state
        self.state = state
        now = self.backstage.clock.now_ms()

        def work(connection: Connection) -> None:
            self.guard(set_state(connection, self.record.id, state, self.owner.process_id, now))
            if changed:
                self.event(connection, RunChanged(state.value))
            self._acknowledge(connection, signals, state, now)

        await self.write(work)
        if state is RunState.RUNNING:
            self.settled.clear()
        else:
            self.settled.set()
        self.backstage.settled(self.record.id, self.record.session_id)

    def _acknowledge(
        self, connection: Connection, signals: list[SignalRecord], state: RunState, now: int
    ) -> None:
        for signal in signals:
            if acknowledge(connection, signal.id, state, now):
                self.event(
                    connection, SignalAcknowledged(signal.id, signal.kind.value, state.value)
                )

    def receive(self, signal: SignalRecord) -> None:
        """Act on a signal; it is acknowledged when it has taken effect."""
        if any(
            signal.id == known.id for known in (*self._pausing, *self.cancelling, *self._resuming)
        ):
            return
        match signal.kind:
            case SignalKind.PAUSE:
                self._held = True
                self._open.clear()
                self._pausing.append(signal)
                if not self.in_flight:
                    self.chore(self.settle())
            case SignalKind.RESUME:
                self._held = False
                settled = [*self._pausing, signal]
                self._pausing = []
                # Until they are on record: their senders' rows are seen again at every look.
                self._resuming += settled
                self.chore(self._resume(settled))
            case SignalKind.CANCEL:
                self.cancelling.append(signal)
                if self.task is not None:
                    self.task.cancel()

    async def _resume(self, signals: list[SignalRecord]) -> None:
        waiting = not self.in_flight and bool(self.questions or self.sleepers)
        state = RunState.WAITING if waiting else RunState.RUNNING
        try:
            await self._enter_state(state, signals)
        finally:
            self._resuming = [each for each in self._resuming if each not in signals]
        if not self._held:
            self._open.set()
        elif not self.in_flight:
            # Somebody asked for a pause meanwhile.
            await self.settle()

    async def finish(
        self,
        state: RunState,
        *,
        result: Json = None,
        error: ErrorRecord | None = None,
        before: Callable[[Connection], None] | None = None,
    ) -> bool:
        """End the run, acknowledging every signal that its end overtook; say whether it has ended.

        A pause that was stored before it is not overtaken: then the run is held, and stays.
        `before` is stored with the end, while the run is still this execution's.
        """
        now = self.backstage.clock.now_ms()
        signals = [*self._pausing, *self.cancelling]

        def work(connection: Connection) -> list[SignalRecord]:
            if before is not None:
                before(connection)
            elif state is not RunState.CANCELLED:
                there = open_signals_of(connection, self.record.id)
                if held_by := [each for each in there if each.kind is SignalKind.PAUSE]:
                    return held_by
            self.guard(
                finish(
                    connection,
                    self.record.id,
                    state,
                    self.owner.process_id,
                    now,
                    result=result,
                    error=error,
                )
            )
            self.event(
                connection,
                RunChanged(state.value, error=error.to_json() if error is not None else None),
            )
            self._acknowledge(connection, signals, state, now)
            return []

        self.backstage.faults.reach("run.before_finish")
        if held_by := await self.write(work):
            for signal in held_by:
                self.receive(signal)
            return False
        self.state = state
        self.backstage.faults.reach("run.after_finish")
        self.settled.set()
        self.backstage.settled(self.record.id, self.record.session_id)
        return True

    @property
    def has_long_steps(self) -> bool:
        """Whether a step has been executing for a while without anybody being told."""
        return bool(self._long_steps())

    def _long_steps(self) -> list[InFlight]:
        now = self.backstage.clock.monotonic()
        return [
            step
            for step in self.in_flight.values()
            if not step.announced and now - step.since >= ANNOUNCE_AFTER_SECONDS
        ]

    async def announce_long_steps(self) -> None:
        """Store `step.started` for steps that have been executing for a while."""
        late = self._long_steps()
        for step in late:
            step.announced = True

        def work(connection: Connection) -> None:
            for step in late:
                self.event(connection, StepStarted(step.kind.value, step.effect.value), step.key)

        if late:
            await self.write(work)

    def chore(self, work: Any) -> None:
        """Do something beside the run, keeping hold of it until it is done."""
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._chores.add(task)
        task.add_done_callback(self._chore_done)

    def _chore_done(self, task: "asyncio.Task[None]") -> None:
        self._chores.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        # A chore that could not be stored ends the run: its next own write would fail as well.
        if isinstance(error, JournalUnavailable):
            self.interruption = error.error
        if isinstance(error, TakenOver | JournalUnavailable) and self.task is not None:
            self.task.cancel()
        elif error is not None:
            _log.error("something beside run %s failed", self.record.id, exc_info=error)

    async def finish_chores(self) -> None:
        """Wait until everything done beside the run is over."""
        while self._chores:
            await asyncio.wait(set(self._chores))

"""Executor: takes a run into this process's hands, executes it, and stores how it ended."""

import asyncio
import logging
from dataclasses import dataclass

from callboard.core import tracing
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError, Conflict, ErrorRecord, InvalidInput
from callboard.core.run_events import RunChanged, SignalAcknowledged
from callboard.core.vocabulary.run import RunRecord, RunState, SignalKind, SignalRecord
from callboard.engine.errors import Halt, JournalUnavailable, RecordRefused, StrayCancel
from callboard.engine.execution import is_cancelled_from_outside
from callboard.engine.live import LiveRun
from callboard.engine.lost_steps import LostSteps
from callboard.engine.ownership import Ownership
from callboard.engine.run import Run
from callboard.engine.scope import Backstage
from callboard.engine.step_record import refusal
from callboard.store.backlog import enter
from callboard.store.connection import Connection, StoreError
from callboard.store.journal.events import append_event
from callboard.store.journal.runs import Owner, deaths_in_vain, load_run, release, set_state, take
from callboard.store.journal.signals import acknowledge, open_signals_of
from callboard.store.journal.steps import load_journal
from callboard.store.ledger.entries import was_known_before

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Claimed:
    """A run that has just become this process's, and the signals it has still to act on."""

    record: RunRecord
    owner: Owner
    signals: list[SignalRecord]


class Executor:
    """Executes runs that this process may own."""

    def __init__(self, backstage: Backstage, ownership: Ownership) -> None:
        """Take the surroundings and this process's identity."""
        self.backstage = backstage
        self.ownership = ownership
        self._lost_steps = LostSteps(backstage.database)

    async def take(self, run_id: str, *, is_new: bool = False) -> LiveRun:
        """Claim an open run and load its journal; a run with a living owner is a conflict.

        A choreography that nobody offers here is an error before anything is claimed: another
        process, or this one with another pack, may still execute the run.
        """
        run = self.backstage.database.read(lambda connection: load_run(connection, run_id))
        self.backstage.resolve(run.choreography)
        claimed = await self.backstage.database.write(
            lambda connection: self._claim(connection, run_id)
        )
        try:
            return self._live(claimed, is_new=is_new)
        except BaseException:
            # Nobody executes what could not be read: it must not look as if somebody did.
            await self.release(run_id)
            raise

    def _live(self, claimed: _Claimed, *, is_new: bool) -> LiveRun:
        record = claimed.record
        journal = self.backstage.database.read(lambda connection: load_journal(connection, record))
        live = LiveRun(self.backstage, record, journal, claimed.owner)
        live.in_doubt = self._is_in_doubt(record)
        if not is_new:
            live.lost_steps = self._lost_steps
            self._lost_steps.expect(record)
        for signal in claimed.signals:
            if signal.kind is not SignalKind.RESUME:
                live.receive(signal)
        return live

    def _is_in_doubt(self, record: RunRecord) -> bool:
        """Say whether a run may have done more than its journal knows: it is older than a loss."""
        gap = self.backstage.database.gap()
        if gap is None:
            return False

        def is_older(connection: Connection) -> bool:
            known: RunRecord | None = record
            while known is not None:
                if was_known_before(connection, known.id, gap.seq):
                    return True
                known = load_run(connection, known.parent_id) if known.parent_id else None
            return False

        in_doubt = self.backstage.database.read(is_older)
        if in_doubt:
            _log.warning(
                "run %s is in doubt (%s): effects it does not remember are looked into, or asked"
                " about; `callboard doctor --accept` ends the doubt.",
                record.id,
                gap,
            )
        return in_doubt

    def _claim(self, connection: Connection, run_id: str) -> _Claimed:
        run = load_run(connection, run_id)
        if run.is_terminal:
            raise Conflict(
                f"Run {run_id} is already {run.state.value}",
                fix="`callboard runs retry` or `fork` makes a new run from it.",
                run_id=run_id,
                state=run.state.value,
            )
        # A run this process could not let go of when its disk was full may be taken up here again.
        owner = run.owner if run.owner != self.ownership.id else None
        if owner is not None and self.ownership.is_alive(connection, owner):
            raise Conflict(
                f"Run {run_id} is being executed by another process",
                fix="Watch it with `callboard runs watch`, or pause or cancel it.",
                run_id=run_id,
                owner=run.owner,
            )
        signals = open_signals_of(connection, run_id)
        is_resumed = any(signal.kind is SignalKind.RESUME for signal in signals)
        if run.state is RunState.PAUSED and not is_resumed:
            raise Conflict(
                f"Run {run_id} is paused",
                fix=f"`callboard runs resume {run_id}` lets it go on.",
                run_id=run_id,
                state=run.state.value,
            )
        now = self.backstage.clock.now_ms()
        is_orphan = owner is not None and run.state is RunState.RUNNING
        deaths = deaths_in_vain(connection, run_id) if is_orphan else 0
        mine = take(connection, run_id, self.ownership.id, run.owner, deaths=deaths)
        set_state(connection, run_id, RunState.RUNNING, self.ownership.id, now)
        if run.state is not RunState.RUNNING:
            self._event(connection, run, RunChanged(RunState.RUNNING.value))
        for signal in signals:
            if signal.kind is SignalKind.RESUME:
                acknowledge(connection, signal.id, RunState.RUNNING, now)
                body = SignalAcknowledged(signal.id, signal.kind.value, RunState.RUNNING.value)
                self._event(connection, run, body)
        return _Claimed(load_run(connection, run_id), mine, signals)

    def _event(
        self, connection: Connection, run: RunRecord, body: RunChanged | SignalAcknowledged
    ) -> None:
        now = self.backstage.clock.now_ms()
        append_event(connection, body, at=now, session_id=run.session_id, run_id=run.id)

    async def execute(self, live: LiveRun) -> None:
        """Execute a claimed run to its end, or until it is halted or let go."""
        live.task = asyncio.current_task()
        enter(live.backlog)
        try:
            if live.cancelling:
                raise asyncio.CancelledError
            result, error = await self._perform(live)
            state = RunState.DONE if error is None else RunState.FAILED
            # A paused run does not end by itself: its end waits like a step would.
            await live.admit()
            while not await live.finish(state, result=result, error=error):
                await live.admit()
        except asyncio.CancelledError:
            live.is_ending = True
            await self._stopped(live)
        except Halt as halt:
            live.is_ending = True
            await self._halted(live, halt)
        finally:
            live.settled.set()
            self._lost_steps.dismiss(live.record.id)
            await live.finish_chores()

    async def _perform(self, live: LiveRun) -> tuple[Json, ErrorRecord | None]:
        name = live.record.choreography
        said = {
            tracing.OPERATION: "invoke_workflow",
            tracing.WORKFLOW: name,
            tracing.CONVERSATION: live.record.session_id,
            tracing.RUN: live.record.id,
        }
        with self.backstage.trace.span(f"invoke_workflow {name}", said) as span:
            try:
                result = await self.backstage.resolve(name)(Run(live))
                _check_json(name, result)
            except asyncio.CancelledError:
                if is_cancelled_from_outside():
                    raise
                stray = StrayCancel(f"{name} was cancelled from inside")
                span.fail(stray.code)
                return None, stray.record()
            except Exception as error:  # noqa: BLE001 - the border of a run: all is journaled
                failure = self.backstage.classifier.record(error)
                span.fail(failure.code)
                return None, failure
        return result, None

    async def _stopped(self, live: LiveRun) -> None:
        """Tell a cancel signal from a record that could not be stored and from letting go."""
        try:
            live.backlog.check()
            if live.cancelling:
                await live.finish(RunState.CANCELLED)
            else:
                await self._let_go(live)
        except Halt as halt:
            await self._halted(live, halt)
        except StoreError as error:
            live.interruption, live.is_released = error, False
            _log.error("run %s could not be released: %s", live.record.id, error)

    async def _halted(self, live: LiveRun, halt: Halt) -> None:
        try:
            if isinstance(halt, RecordRefused):
                # The run went on from what cannot be kept: it fails, and with it the step.
                live.forget_backlog()
                error, record = refusal(live, halt.error)
                await live.finish(RunState.FAILED, error=error, before=record)
                return
        except Halt as again:
            halt = again
        if isinstance(halt, JournalUnavailable):
            await self._interrupted(live, halt.error)
        else:
            _log.warning("run %s was taken over by another process", live.record.id)

    async def _interrupted(self, live: LiveRun, error: CallboardError) -> None:
        live.interruption = error
        _log.error("run %s is interrupted: %s", live.record.id, error)
        try:
            await self._let_go(live)
        except StoreError as again:
            live.is_released = False
            _log.error("run %s could not be released: %s", live.record.id, again)

    async def _let_go(self, live: LiveRun) -> None:
        await self.release(live.record.id)

    async def release(self, run_id: str) -> None:
        """Let go of a run that is this process's and is not executed here any more."""
        await self.backstage.database.write(
            lambda connection: release(connection, run_id, self.ownership.id)
        )


def _check_json(choreography: str, result: Json) -> None:
    try:
        compact_json(result)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{choreography} returned {type(result).__name__}: {error}",
            fix="A choreography returns JSON: text, numbers, lists and dictionaries.",
        ) from error

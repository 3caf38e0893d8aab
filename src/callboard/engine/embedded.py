"""The embedded dispatcher: runs are asyncio tasks of this process, on the project's database."""

import asyncio
import contextlib
import itertools
import logging
from dataclasses import dataclass
from typing import Final

from callboard.core.errors import CallboardError, Conflict
from callboard.engine.executor import Executor
from callboard.engine.live import LiveRun
from callboard.store.connection import DiskFull, StoreBusy, StoreError, StoreReadOnly
from callboard.store.journal.questions import answers_to
from callboard.store.journal.signals import open_signals

_log = logging.getLogger(__name__)

TICK_SECONDS: Final = 0.1
# How often the mirrors of a working run are brought up to date.
_TICKS_PER_MIRROR: Final = 10
_STEPS_PER_MIRROR_SECOND: Final = 500
# So long an interrupted run waits before it is tried again, at first and at most.
_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Pause:
    """A pause before something is tried again, and when it ends."""

    seconds: float = 0.0
    until: float = 0.0

    def longer(self, now: float) -> "_Pause":
        """Return the next pause, twice as long."""
        seconds = min(max(2 * self.seconds, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        return _Pause(seconds, now + seconds)


def _log_failure(task: "asyncio.Task[LiveRun]") -> None:
    # Whoever asked has the error, or has left.
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.debug("a run could not be taken up: %s", error)


class EmbeddedDispatcher:
    """Executes runs in this process and watches the database for what others ask of them."""

    def __init__(self, executor: Executor) -> None:
        """Wrap an executor; nothing runs before `start`."""
        self._executor = executor
        self._live: dict[str, LiveRun] = {}
        # Runs whose execution ended here because the journal could not be written: whoever waits
        # for one is told so, until somebody takes it up again.
        self._interrupted: dict[str, LiveRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # Runs being claimed: a second dispatch of the same run in this process waits for nothing.
        self._beginning: dict[str, asyncio.Task[LiveRun]] = {}
        # Interrupted runs: when they are looked after next, and the pause that led to that.
        self._pauses: dict[str, _Pause] = {}
        self._poked = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None
        self._seen_version = -1
        # Run id to the last completion its mirrors have been told of, and when they may be again.
        self._mirrored: dict[str, tuple[int, float]] = {}

    async def start(self) -> None:
        """Register this process and begin to watch."""
        await self._executor.ownership.register()
        self._watcher = asyncio.create_task(self._watch(), name="callboard-watcher")

    async def stop(self) -> None:
        """Let go of every live run and leave."""
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher
            self._watcher = None
        # A claim that is under way is committed whatever happens here; what it gives is let go.
        if self._beginning:
            await asyncio.wait(set(self._beginning.values()))
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        with contextlib.suppress(CallboardError):
            await self._executor.ownership.leave()

    async def dispatch(self, run_id: str, *, is_new: bool = False) -> None:
        """Claim a run and execute it as a task; whoever asked may leave meanwhile."""
        if self.has(run_id):
            raise Conflict(f"Run {run_id} is already being executed here", run_id=run_id)
        await asyncio.shield(self._begin(run_id, is_new=is_new))

    def _begin(self, run_id: str, *, is_new: bool = False) -> asyncio.Task[LiveRun]:
        """Claim and start in a task of the dispatcher's own, whoever waits for it."""
        task = asyncio.create_task(self._take(run_id, is_new=is_new), name=f"callboard-{run_id}")
        self._beginning[run_id] = task
        task.add_done_callback(_log_failure)
        return task

    async def _take(self, run_id: str, *, is_new: bool) -> LiveRun:
        try:
            live = await self._executor.take(run_id, is_new=is_new)
        finally:
            self._beginning.pop(run_id, None)
        self._interrupted.pop(run_id, None)
        self._live[run_id] = live
        task = asyncio.create_task(self._executor.execute(live), name=f"callboard-{run_id}")
        live.task = task
        self._tasks[run_id] = task
        task.add_done_callback(lambda _task: self._over(run_id))
        return live

    def has(self, run_id: str) -> bool:
        """Say whether this process executes a run, or is about to."""
        return run_id in self._live or run_id in self._beginning

    def live(self, run_id: str) -> LiveRun | None:
        """Return the run if this process executes it, or was interrupted executing it."""
        return self._live.get(run_id) or self._interrupted.get(run_id)

    def poke(self) -> None:
        """Look at signals and answers at once: a run that does not wait is soon a step further."""
        with contextlib.suppress(StoreError):
            self._deliver()
        self._seen_version = -1
        self._poked.set()

    def _over(self, run_id: str) -> None:
        live = self._live.pop(run_id, None)
        if live is not None and live.interruption is not None:
            self._interrupted[run_id] = live
            self._pauses[run_id] = self._pauses.get(run_id, _Pause()).longer(self._now)
        else:
            self._pauses.pop(run_id, None)
        self._tasks.pop(run_id, None)
        self._mirrored.pop(run_id, None)

    async def _watch(self) -> None:
        for tick in itertools.count():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._poked.wait()
            self._poked.clear()
            due = [each for each in self._interrupted if self._pauses[each].until < self._now]
            for run_id in due:
                await self._look_after(run_id)
            if not self._live:
                continue
            try:
                self._look()
            except StoreError as error:
                # A database that cannot be read now may be readable at the next tick.
                _log.warning("cannot look for signals: %s", error)
            if tick % _TICKS_PER_MIRROR == 0:
                self._touch_mirrors()

    @property
    def _now(self) -> float:
        return self._executor.backstage.clock.monotonic()

    async def _look_after(self, run_id: str) -> None:
        """Take an interrupted run up again, or at least give it back.

        What may pass by itself, or by somebody's making room, is tried again with growing pauses.
        """
        live, error = self._interrupted[run_id], self._interrupted[run_id].interruption
        self._pauses[run_id] = self._pauses[run_id].longer(self._now)
        try:
            if isinstance(error, StoreBusy | DiskFull | StoreReadOnly):
                (await self._begin(run_id)).was_taken_up = True
                _log.warning("run %s goes on", run_id)
            elif not live.is_released:
                await self._executor.release(run_id)
                live.is_released = True
        except StoreError as again:
            _log.warning("run %s still cannot go on: %s", run_id, again)
        except CallboardError:
            # Somebody else has it, or it is over.
            self._interrupted.pop(run_id, None)

    def _look(self) -> None:
        version = self._executor.backstage.database.version_seen()
        if version != self._seen_version:
            self._deliver()
            self._seen_version = version
        for live in self._live.values():
            if live.has_long_steps:
                live.chore(live.announce_long_steps())

    def _touch_mirrors(self) -> None:
        for run_id, live in self._live.items():
            seq, due_at = self._mirrored.get(run_id, (0, 0.0))
            if seq != live.next_seq and due_at <= self._now:
                # A folder is compared whole: a long run's is written less and less often.
                pause = live.next_seq / _STEPS_PER_MIRROR_SECOND
                self._mirrored[run_id] = (live.next_seq, self._now + pause)
                self._executor.backstage.settled(run_id, live.record.session_id)

    def _deliver(self) -> None:
        database = self._executor.backstage.database
        owner = self._executor.ownership.id
        for signal in database.read(lambda connection: open_signals(connection, owner)):
            live = self._live.get(signal.run_id)
            if live is not None:
                live.receive(signal)
        waiting = {
            question_id: future
            for live in self._live.values()
            for question_id, future in live.questions.items()
        }
        if not waiting:
            return
        for answer in database.read(lambda connection: answers_to(connection, list(waiting))):
            future = waiting.get(answer.id)
            if future is not None and not future.done():
                future.set_result(answer.value)

"""Backlog: what a run has handed in and is not on disk yet. Nothing leaves before it is.

The units of one backlog are stored in the order of hand-in; after one that failed none is. Whoever
lets something out of the process (a request, a file, a question) waits with `before_leaving` for
everything the run around it has handed in, wherever in the house that is.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

# So much may be behind before the run waits for the disk.
MOST_ROWS: Final = 128
MOST_BYTES: Final = 4_000_000


class Backlog:
    """The units of one execution of a run; used on its event loop, but for `failure`."""

    def __init__(
        self,
        hasten: Callable[[], None],
        explain: Callable[[Exception], BaseException],
        on_failure: Callable[[Exception], None],
    ) -> None:
        """Take how to have what is pending committed soon, and what a failure means to the run.

        `explain` gives what is raised wherever something was about to leave; `on_failure` is told
        once, on the event loop.
        """
        self._hasten = hasten
        self._explain = explain
        self._on_failure = on_failure
        self._is_told = False
        # Set by the writer on its thread, in its turn: from then on it stores nothing of this.
        self.failure: Exception | None = None
        # The number of the latest unit that wrote more than the journal, and up to which number
        # every reader sees all; threads of the run read as well.
        self._latest_companion = 0
        self._visible = 0
        self._handed_in = 0
        self._stored = 0
        self._bytes: deque[int] = deque()
        self._bytes_behind = 0
        # What waits until so many units are stored, in order.
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether the run must not go on before the disk has caught up."""
        return self._handed_in - self._stored >= MOST_ROWS or self._bytes_behind >= MOST_BYTES

    @property
    def has_companions(self) -> bool:
        """Whether somebody could look in vain for what was stored beside the journal."""
        return self._latest_companion > max(self._stored, self._visible)

    def make_visible(self, flush: Callable[[], None]) -> None:
        """Have what was stored beside the journal so far be seen by whoever reads next."""
        latest = self._latest_companion
        if latest > max(self._stored, self._visible):
            flush()
            self._visible = max(self._visible, latest)

    def count(self, size_bytes: int, *, has_companions: bool) -> None:
        """Note that a unit has been handed in."""
        self._handed_in += 1
        self._bytes.append(size_bytes)
        self._bytes_behind += size_bytes
        if has_companions:
            self._latest_companion = self._handed_in

    async def durable(self) -> None:
        """Return when everything handed in so far is on disk; raise if something never will be."""
        if self._stored != self._handed_in and self.failure is None:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.when_durable(lambda: None if future.done() else future.set_result(None))
            self._hasten()
            await future
        self.check()

    def check(self) -> None:
        """Raise if something that was handed in could not be stored."""
        if self.failure is not None:
            raise self._explain(self.failure)

    def when_durable(self, act: Callable[[], None]) -> None:
        """Do something once everything handed in so far is on disk, or is known to have failed."""
        if self._stored == self._handed_in or self.failure is not None:
            act()
        else:
            self._waiting.append((self._handed_in, act))

    def done(self) -> bool:
        """Say that the writer has still to tell how a unit ended."""
        return False

    def set_result(self, _value: Any) -> None:
        """Hear from the writer, on the event loop, that the next unit is stored."""
        self._stored += 1
        self._bytes_behind -= self._bytes.popleft()
        while self._waiting and self._waiting[0][0] <= self._stored:
            self._waiting.popleft()[1]()

    def set_exception(self, error: BaseException) -> None:
        """Hear from the writer, on the event loop, that a unit was not stored."""
        if self.failure is None:
            self.failure = error if isinstance(error, Exception) else RuntimeError(str(error))
        while self._waiting:
            self._waiting.popleft()[1]()
        if not self._is_told:
            self._is_told = True
            self._on_failure(self.failure)


_current: ContextVar[Backlog | None] = ContextVar("callboard_backlog", default=None)


def enter(backlog: Backlog) -> None:
    """Have everything from here on, in this task and what it starts, belong to a backlog."""
    _current.set(backlog)


def current() -> Backlog | None:
    """Return the backlog of the run that this is done for, if it is done for one."""
    return _current.get()


async def before_leaving() -> None:
    """Wait until everything is on disk that what is about to leave may depend on."""
    backlog = _current.get()
    if backlog is not None:
        await backlog.durable()

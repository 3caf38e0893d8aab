"""Plain functions as async ones, each call in a thread of its own, so many at a time.

When its time is up, or nobody waits any more, the caller goes on, and a function that may be
stopped is: an exception is raised in its thread at the next step of its Python code. What cannot be
stopped (a call into a library that does not come back) keeps its place, so that abandoned work is
never more than there are places. The threads are daemons: none keeps the process from ending.
"""

import asyncio
import contextlib
import contextvars
import ctypes
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Generic, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from callboard.core.errors import CallboardError
from callboard.tools.errors import ToolError

P = ParamSpec("P")
T = TypeVar("T")

MOST_THREADS: Final = 8
WORK_SECONDS: Final = 30.0
_ASK_AGAIN_SECONDS: Final = 1.0
# One set of places for each event loop, as its threads are waited for there.
_places: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]] = (
    WeakKeyDictionary()
)


class WorkTooLong(CallboardError):
    """Work off the event loop was not done in time and has been stopped."""

    code = "work_too_long"


class WorkStopped(BaseException):
    """Raised within a thread whose work nobody waits for; nothing may catch it and go on."""


def in_thread(function: Callable[P, T], *, is_stoppable: bool = False) -> Callable[P, Awaitable[T]]:
    """Return an async function that runs a plain one in a thread.

    Stoppable is what only reads and computes: it may end between any two steps of its code.
    """

    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        places = _places_here()
        await places.acquire()
        work = _ThreadWork[T](lambda: function(*args, **kwargs), places.release)
        try:
            work.start(getattr(function, "__name__", "work"))
        except BaseException:
            places.release()
            raise
        try:
            return await work.outcome
        except asyncio.CancelledError:
            work.abandon(is_stoppable=is_stoppable)
            raise

    return call


async def off_loop(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what only reads and computes off the event loop, and stop it if it takes too long."""
    limit = asyncio.timeout(WORK_SECONDS)
    try:
        async with limit:
            return await in_thread(function, is_stoppable=True)(*args, **kwargs)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise WorkTooLong(
            f"This was not done within {WORK_SECONDS:g} seconds and has been stopped",
            fix="Ask for less at once: a shorter text, fewer things.",
            limit_seconds=WORK_SECONDS,
        ) from error


class _ThreadWork(Generic[T]):
    """One call in its thread; its place is given back when the thread is done, not before."""

    def __init__(self, function: Callable[[], T], give_back: Callable[[], None]) -> None:
        self.outcome: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._function = function
        self._give_back = give_back
        self._has_place = True
        self._thread: threading.Thread | None = None

    def start(self, name: str) -> None:
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=self._run_in, args=(context,), name=name, daemon=True
        )
        self._thread.start()

    def abandon(self, *, is_stoppable: bool) -> None:
        """Go on without it; whether its thread has ended is looked at now and then."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            self._leave()
            return
        if is_stoppable:
            _raise_in(thread)
        again = lambda: self.abandon(is_stoppable=is_stoppable)  # noqa: E731 - one call, later
        self._loop.call_later(_ASK_AGAIN_SECONDS, again)

    def _run_in(self, context: contextvars.Context) -> None:
        # It may be raised anywhere, also when the work is done already.
        with contextlib.suppress(WorkStopped):
            context.run(self._run)

    def _run(self) -> None:
        value, error = None, None
        try:
            value = self._function()
        except WorkStopped:
            raise
        except BaseException as caught:  # noqa: BLE001 - carried over to the waiting task
            error = caught
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, value, error)

    def _deliver(self, value: T | None, error: BaseException | None) -> None:
        self._leave()
        if self.outcome.done():
            return
        if error is None:
            self.outcome.set_result(value)  # type: ignore[arg-type]
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            self.outcome.set_exception(error)
        else:
            name = type(error).__name__
            self.outcome.set_exception(ToolError(f"The tool tried to end its thread with {name}"))

    def _leave(self) -> None:
        if self._has_place:
            self._has_place = False
            self._give_back()


def _places_here() -> asyncio.Semaphore:
    return _places.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_THREADS))


def _raise_in(thread: threading.Thread) -> None:
    # The interpreter's own way; there is none in the language.
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(WorkStopped))

"""The one bridge from the command line to the event loop, and what Ctrl-C and SIGTERM do on it.

Asked once, a command ends in good order; if it does not, it is cancelled, and in the end the
process leaves by itself, whatever a thread or a library of it is still at. Asked twice, it leaves
at once. Nothing finished is lost: the journal is written before a step counts as done.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine
from types import FrameType
from typing import Any, Final, TypeVar

from callboard.cli import exits

T = TypeVar("T")

_ORDERLY_SECONDS: Final = 5.0
_END_SECONDS: Final = 10.0
# A little longer than the end, which leaves with an exit code: for a library that lets no other
# thread run, which the system alone can end.
_KILL_SECONDS: Final = 12.0


class LoopEnding:
    """The end of the process: asked for once it comes within seconds, asked for again at once."""

    def __init__(self) -> None:
        """Start out unasked."""
        self._timer: threading.Timer | None = None

    def ask(self) -> None:
        """Have the process end, by the deadline at the latest."""
        if self._timer is not None:
            os._exit(exits.INTERRUPTED)
        self._timer = threading.Timer(_END_SECONDS, os._exit, (exits.INTERRUPTED,))
        self._timer.daemon = True
        self._timer.start()
        _set_alarm(_KILL_SECONDS)

    def call_off(self) -> None:
        """Let the process go on: what was to be ended has ended."""
        if self._timer is not None:
            self._timer.cancel()
            _set_alarm(0)


class Interrupt:
    """Ctrl-C once asks for a clean end; twice ends the process at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ending: LoopEnding) -> None:
        """Start out unasked."""
        self.asked = asyncio.Event()
        self._loop = loop
        self._ending = ending

    def receive(self, _number: int, _frame: FrameType | None) -> None:
        """Act on a signal."""
        self._ending.ask()
        self._loop.call_soon_threadsafe(self.asked.set)


def perform(work: Callable[[Interrupt], Awaitable[int]]) -> int:
    """Run a command's asynchronous part to its end and return its exit code."""
    ending = LoopEnding()
    try:
        return asyncio.run(_perform(work, ending))
    finally:
        # Not before: a loop that is closed waits for its threads.
        ending.call_off()


def perform_simply(work: Coroutine[Any, Any, T]) -> T:
    """Run something short that a single Ctrl-C may end anywhere."""
    return asyncio.run(work)


async def _perform(work: Callable[[Interrupt], Awaitable[int]], ending: LoopEnding) -> int:
    interrupt = Interrupt(asyncio.get_running_loop(), ending)
    # Set with `signal` and not on the loop: the second Ctrl-C must work while the loop is busy.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupt.receive) for number in numbers}
    try:
        return await _until_asked(asyncio.ensure_future(work(interrupt)), interrupt)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _until_asked(working: asyncio.Future[int], interrupt: Interrupt) -> int:
    asked = asyncio.ensure_future(interrupt.asked.wait())
    try:
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        # Whatever follows a run lets go of it by itself; what takes no notice is cancelled.
        if not working.done():
            await asyncio.wait({working}, timeout=_ORDERLY_SECONDS)
        if not working.done():
            working.cancel()
        return await working
    except asyncio.CancelledError:
        if not interrupt.asked.is_set():
            raise
        return exits.INTERRUPTED
    finally:
        asked.cancel()


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)

"""The one bridge from the command line to the event loop, and what Ctrl-C does on it."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

from callboard.cli import exits

T = TypeVar("T")


class Interrupt:
    """Ctrl-C once asks for a clean end; twice ends the process at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start out unasked."""
        self.asked = asyncio.Event()
        self._loop = loop
        self._times = 0

    def receive(self, _number: int, _frame: FrameType | None) -> None:
        """Act on a signal."""
        self._times += 1
        if self._times > 1:
            # Nothing finished is lost: the journal is written before a step counts as done.
            os._exit(exits.INTERRUPTED)
        self._loop.call_soon_threadsafe(self.asked.set)


def perform(work: Callable[[Interrupt], Awaitable[int]]) -> int:
    """Run a command's asynchronous part to its end and return its exit code."""
    return asyncio.run(_perform(work))


def perform_simply(work: Coroutine[Any, Any, T]) -> T:
    """Run something short that a single Ctrl-C may end anywhere."""
    return asyncio.run(work)


async def _perform(work: Callable[[Interrupt], Awaitable[int]]) -> int:
    interrupt = Interrupt(asyncio.get_running_loop())
    # Set with `signal` and not on the loop: the second Ctrl-C must work while the loop is busy.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, interrupt.receive) for number in numbers}
    try:
        return await work(interrupt)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

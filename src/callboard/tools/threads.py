"""Plain functions as async ones, each call in a thread of its own.

A thread cannot be stopped from outside: when its time is up the caller goes on, the thread is
abandoned, and what it still does nobody hears about. The threads are daemons, so that a hanging
tool never keeps the process from ending.
"""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from callboard.tools.errors import ToolError

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Return an async function that runs a plain one in a thread."""

    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def deliver(value: T | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(value)  # type: ignore[arg-type]
            elif isinstance(error, Exception) and not isinstance(error, StopIteration):
                future.set_exception(error)
            else:
                name = type(error).__name__
                future.set_exception(ToolError(f"The tool tried to end its thread with {name}"))

        def work() -> None:
            value, error = None, None
            try:
                value = function(*args, **kwargs)
            except BaseException as caught:  # noqa: BLE001 - carried over to the waiting task
                error = caught
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, value, error)

        context = contextvars.copy_context()
        name = getattr(function, "__name__", "tool")
        threading.Thread(target=context.run, args=(work,), name=name, daemon=True).start()
        return await future

    return call

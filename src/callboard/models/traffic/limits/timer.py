"""Timer: the one seam through which the limiter waits. Tests turn it by hand."""

import asyncio
from collections.abc import Callable

Cancel = Callable[[], None]
Timer = Callable[[float, Callable[[], None]], Cancel]
"""Runs an action once after so many seconds, unless the returned function is called first."""


def loop_timer(seconds: float, action: Callable[[], None]) -> Cancel:
    """Wait on the running event loop."""
    return asyncio.get_running_loop().call_later(seconds, action).cancel

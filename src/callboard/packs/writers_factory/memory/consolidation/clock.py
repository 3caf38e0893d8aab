"""ConsolidationClock: consolidates every so many minutes while a server runs. Decides nothing."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.memory.consolidation.consolidator import Consolidator
from callboard.packs.writers_factory.memory.consolidation.running import AlreadyRunning

_log = logging.getLogger(__name__)

Pause = Callable[[float], Awaitable[None]]


class ConsolidationClock:
    """A loop that starts a consolidation whenever something waits for one."""

    def __init__(self, consolidator: Consolidator, *, pause: Pause = asyncio.sleep) -> None:
        """Take what consolidates and how time passes."""
        self._consolidator = consolidator
        self._pause = pause
        self._task: asyncio.Task[None] | None = None

    @property
    def is_ticking(self) -> bool:
        """Whether the loop is running."""
        return self._task is not None and not self._task.done()

    def start(self) -> bool:
        """Begin, unless the settings say never; return whether the loop runs."""
        if self._consolidator.interval_minutes <= 0:
            return False
        if not self.is_ticking:
            self._task = asyncio.create_task(self._tick(), name="consolidation clock")
        return True

    async def stop(self) -> None:
        """End the loop; a consolidation that was started goes on for itself."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _tick(self) -> None:
        # The settings are read anew each time, so a change or a 0 takes effect without a restart.
        while (minutes := self._consolidator.interval_minutes) > 0:
            await self._pause(minutes * 60)
            try:
                if self._consolidator.has_work():
                    await self._consolidator.start()
            except AlreadyRunning:
                continue
            except CallboardError as error:
                _log.warning("the scheduled consolidation did not start: %s", error)

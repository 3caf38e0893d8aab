"""Fault points for tests: count them, act at one, fail at one, or die at one.

Pass one of these as `Opening(faults=...)`. What happens at the moment is all they decide; the
points themselves are listed in `COMMIT_POINTS`.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from callboard.store.connection import StoreError
from callboard.store.faults import COMMIT_POINTS

__all__ = ["COMMIT_POINTS", "ActAt", "Blackout", "FailAt", "KillAt", "Moment", "Passages"]

# Where a write begins: a process without power gets no further than these.
_BEFORE_WRITING: Final = frozenset(
    {"store.before_commit", "mirror.before_write", "receipts.before_mirror"}
)


@dataclass(frozen=True, slots=True)
class Moment:
    """The n-th time execution passes a point; without a point, any of them counts."""

    point: str | None
    nth: int = 1

    def __post_init__(self) -> None:
        """Refuse a moment that never comes."""
        if self.point is not None and self.point not in COMMIT_POINTS:
            raise ValueError(f"no fault point {self.point!r}; known: {', '.join(COMMIT_POINTS)}")
        if self.nth < 1:
            raise ValueError(f"passages are counted from 1, not {self.nth}")


class Passages:
    """Counts what is passed, and lets everything pass."""

    def __init__(self) -> None:
        """Start at zero."""
        self.counts: Counter[str] = Counter()
        # Points are passed on the event loop, on the writer's thread and on mirror threads.
        self._lock = threading.Lock()

    @property
    def total(self) -> int:
        """How many points of any name were passed."""
        with self._lock:
            return self.counts.total()

    def reach(self, point: str) -> None:
        """Count one passage."""
        self.count(point)

    def count(self, point: str) -> tuple[int, int]:
        """Count one passage and return its number at this point and over all points."""
        with self._lock:
            self.counts[point] += 1
            return self.counts[point], self.counts.total()


class ActAt(Passages):
    """Calls a function at a moment, on whichever thread passes there."""

    def __init__(self, moment: Moment, act: Callable[[], None]) -> None:
        """Take the moment and what is to happen then."""
        super().__init__()
        self.moment = moment
        self._act = act

    def reach(self, point: str) -> None:
        """Count one passage, and act if it is the one."""
        at_point, overall = self.count(point)
        if self.moment.point is None:
            is_now = overall == self.moment.nth
        else:
            is_now = point == self.moment.point and at_point == self.moment.nth
        if is_now:
            self._act()


class FailAt(ActAt):
    """Raises an error at a moment, once."""

    def __init__(self, moment: Moment, error: Exception) -> None:
        """Take the moment and the error."""
        super().__init__(moment, self._fail)
        self._error = error

    def _fail(self) -> None:
        raise self._error


class KillAt(ActAt):
    """Kills this process at a moment, as `kill -9` does: nothing is flushed, nobody is told."""

    def __init__(self, moment: Moment) -> None:
        """Take the moment."""
        super().__init__(moment, _kill)


class Blackout(ActAt):
    """From a moment on, nothing this process writes reaches the disk.

    The process's memory is as good as gone, so opening the project again shows what a crash
    would have left behind, without a process of its own. With `keep` what was handed in by then is
    written first: set it to the `flush` of the database.
    """

    def __init__(self, moment: Moment) -> None:
        """Take the moment."""
        super().__init__(moment, self._cut)
        self.is_dark = False
        self.keep: Callable[[], None] | None = None
        self._point = ""

    def reach(self, point: str) -> None:
        """Count one passage; in the dark, let no write begin."""
        self._point = point
        super().reach(point)
        if self.is_dark and point in _BEFORE_WRITING:
            raise StoreError(f"the power was cut at {self.moment}")

    def _cut(self) -> None:
        # Within a commit nothing else can be written.
        if self.keep is not None and not self._point.startswith("store."):
            self.keep()
        self.is_dark = True


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    # The signal may be delivered to another thread first: this one must not go on meanwhile.
    threading.Event().wait()

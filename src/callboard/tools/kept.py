"""Kept: a place where tools keep what they derived, between the calls of one process.

What is kept must be derivable again: it is dropped, oldest use first, when there is too much of it.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar, cast

MOST_KEPT: Final = 256

T = TypeVar("T")


class _Holder:
    __slots__ = ("has_value", "lock", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.has_value = False
        self.value: Any = None


class Kept:
    """Values by key, each made once however many threads ask for it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Take how many values are kept at most."""
        self._most = most
        self._lock = threading.Lock()
        self._holders: OrderedDict[Hashable, _Holder] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, making it if nobody has; a failure is not kept."""
        holder = self._holder(key)
        with holder.lock:
            if not holder.has_value:
                holder.value = make()
                holder.has_value = True
            return cast("T", holder.value)

    def _holder(self, key: Hashable) -> _Holder:
        with self._lock:
            holder = self._holders.setdefault(key, _Holder())
            self._holders.move_to_end(key)
            while len(self._holders) > self._most:
                self._holders.popitem(last=False)
            return holder

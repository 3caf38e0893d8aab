"""Kills a process before the n-th thing it does to disk.

Python tells of most such things by audit events; `write`, `fsync` and `fdopen` are counted where
they are called, and if that is wanted every SQL statement as well. A process that does fewer things
than asked ends by itself.
"""

import os
import signal
import sqlite3
import sys
import threading
from typing import Any

EVENTS = frozenset(
    {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}
)


def kill_at(point: int, with_statements: bool) -> None:
    """Kill this process before the given thing it does to disk."""
    left = [point]

    def reach() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and (event != "open" or _changes(arguments)):
            reach()

    sys.addaudithook(hear)
    for name in ("write", "fsync", "fdopen"):
        setattr(os, name, _counted(getattr(os, name), reach))
    if with_statements:
        _count_statements(reach)


def _count_statements(reach: Any) -> None:
    def notice(_frame: Any, event: str, called: Any) -> None:
        if event == "c_call" and isinstance(getattr(called, "__self__", None), sqlite3.Connection):
            reach()

    threading.setprofile(notice)
    sys.setprofile(notice)


def _counted(real: Any, reach: Any) -> Any:
    def call(*arguments: Any, **named: Any) -> Any:
        reach()
        return real(*arguments, **named)

    return call


def _changes(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 and isinstance(arguments[2], int) else 0
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))

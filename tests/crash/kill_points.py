"""A warm process that forks a child per command and kills it before the n-th thing done to disk.

Python tells of most such things by audit events; `write`, `fsync` and `fdopen` are counted where
they are called, and if that is wanted every SQL statement as well. A child that did fewer things
than asked ends by itself.
"""

import json
import os
import signal
import sqlite3
import sys
import threading
from typing import Any

EVENTS = frozenset(
    {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}
)


def main() -> None:
    """Read one job per line, have a child do it, answer how it ended."""
    import callboard.cli.handlers.initiating
    import callboard.studio.studio
    from callboard.cli.main import main as callboard

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            _perform(job, callboard)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _perform(job: dict[str, Any], callboard: Any) -> None:
    code = 70
    try:
        os.chdir(job["folder"])
        told = os.open(job["told"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(told, 1)
        os.dup2(told, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        if job["point"]:
            _count(job["point"], with_statements=job["with_statements"])
        code = callboard(job["words"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _count(point: int, *, with_statements: bool) -> None:
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


if __name__ == "__main__":
    main()

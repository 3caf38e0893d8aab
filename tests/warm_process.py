"""Calls of the command line in processes of their own that need not import everything anew.

One process per worker has imported what commands import. For each call it forks one that has its
own folder, environment and files, and ends as the console script does. What is about the start
itself, about terminals or about signals still starts the console script.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def call_warm(
    *words: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: int = 100,
) -> subprocess.CompletedProcess[str]:
    """Call the command line in a process of its own and wait for its end."""
    return _warm().call(words, cwd, dict(os.environ if env is None else env), stdin, timeout)


def run_warm(tool: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools in a process of its own and wait for its end."""
    return _warm().call((str(tool), *words), cwd, dict(os.environ), "", 300, is_tool=True)


class WarmProcess:
    """The process that is forked."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )
        self._replies = self._ours.makefile("r", encoding="utf-8")

    def call(
        self,
        words: tuple[str, ...],
        cwd: Path,
        env: dict[str, str],
        stdin: str,
        timeout: int,
        *,
        is_tool: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_text(stdin, "utf-8")
            wanted = {"words": words, "cwd": str(cwd), "env": env, "files": [*map(str, files)]}
            wanted["is_tool"] = is_tool
            self._ours.sendall(json.dumps(wanted).encode() + b"\n")
            pid = json.loads(self._replies.readline())
            self._ours.settimeout(timeout)
            try:
                code = json.loads(self._replies.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            finally:
                self._ours.settimeout(None)
            out, err = (each.read_text("utf-8") for each in files[1:])
        return subprocess.CompletedProcess(["callboard", *words], code, out, err)

    def end(self) -> None:
        self._ours.close()
        self._replies.close()
        self._process.wait()


@cache
def _warm() -> WarmProcess:
    made = WarmProcess()
    atexit.register(made.end)
    return made


def _serve(asked: socket.socket) -> None:
    from callboard.cli.command_apps import app_of
    from callboard.cli.table import names

    for name in names():
        app_of(name)
    import callboard.api.app
    import callboard.cli.handlers.controls
    import callboard.studio.studio  # noqa: F401

    for line in asked.makefile("r", encoding="utf-8"):
        wanted = json.loads(line)
        pid = os.fork()
        if not pid:
            os._exit(_act(wanted))
        asked.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _act(wanted: dict[str, Any]) -> int:
    import random

    from callboard.cli.main import main

    random.seed()
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    read, *written = wanted["files"]
    os.dup2(os.open(read, os.O_RDONLY), 0)
    for number, name in enumerate(written, start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8") for number, mode in enumerate(("r", "w", "w"))
    )
    words = list(wanted["words"])
    try:
        code = _run_tool(words) if wanted["is_tool"] else main(words)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def _run_tool(words: list[str]) -> int:
    import runpy

    sys.argv, sys.path[0] = words, str(Path(words[0]).parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as ours:
        _serve(ours)

"""Calls of the command line in processes of their own that need not import everything anew.

One process per worker has imported what commands import. For each call it forks one that has its
own folder, environment and files, and ends as the console script does; before that a function of a
file may be called in it, which gives it little memory, or kills it. What is about the start itself
or about signals still starts the console script.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def call_warm(
    *words: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: int = 300,
    terminal: str | None = None,
    first: tuple[Any, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Call the command line in a process of its own and wait for its end.

    It writes to a terminal, if one is named. `first` is a file, the name of a function in it and
    what that is called with, in that process.
    """
    job = {"words": words, "cwd": str(cwd), "env": dict(os.environ if env is None else env)}
    return _warm().call(job | {"terminal": terminal, "first": first}, stdin, timeout)


def run_warm(tool: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools in a process of its own and wait for its end."""
    job = {"words": (str(tool), *words), "cwd": str(cwd), "env": dict(os.environ)}
    return _warm().call(job | {"is_tool": True}, "", 300)


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

    def call(
        self, job: dict[str, Any], stdin: str, timeout: int
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("in", "out", "err")]
            files[0].write_text(stdin, "utf-8")
            for each in files[1:]:
                each.touch()
            wanted = job | {"files": [*map(str, files)]}
            self._ours.sendall(json.dumps(wanted).encode() + b"\n")
            pid = self._heard()
            words = ["callboard", *job["words"]]
            is_over, _, _ = select.select([self._ours], [], [], timeout)
            if not is_over:
                os.kill(pid, signal.SIGKILL)
            # One that was killed is told of as well, so that the next call hears of itself.
            code = self._heard()
            out, err = (each.read_text("utf-8", "replace") for each in files[1:])
        if not is_over:
            raise subprocess.TimeoutExpired(words, timeout, out, err)
        return subprocess.CompletedProcess(words, code, out, err)

    def _heard(self) -> int:
        # Without a buffer: what it held, `select` would not see.
        line = b""
        while not line.endswith(b"\n"):
            line += self._ours.recv(1) or b"\n"
        return int(line)

    def end(self) -> None:
        self._ours.close()
        self._process.wait()


@cache
def _warm() -> WarmProcess:
    made = WarmProcess()
    atexit.register(made.end)
    return made


def load_all() -> None:
    """Import whatever a command may import, and have the forked not look through it for garbage."""
    import pkgutil
    from importlib import import_module

    import callboard

    for each in pkgutil.walk_packages(callboard.__path__, "callboard."):
        # Migrations are loaded by what carries them out.
        if ".migrations." not in each.name:
            import_module(each.name)
    # A forked process has this thread only.
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()


def _serve(asked: socket.socket) -> None:
    load_all()
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
    if wanted.get("terminal"):
        written = [wanted["terminal"]] * 2
    os.dup2(os.open(read, os.O_RDONLY), 0)
    for number, name in enumerate(written, start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8") for number, mode in enumerate(("r", "w", "w"))
    )
    words = list(wanted["words"])
    try:
        if wanted.get("first"):
            path, name, *given = wanted["first"]
            runpy.run_path(path)[name](*given)
        code = _run_tool(words) if wanted.get("is_tool") else main(words)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def _run_tool(words: list[str]) -> int:
    # What tests share, a tool of theirs may use, too.
    sys.argv, sys.path[:1] = words, [str(Path(words[0]).parent), str(Path(__file__).parent)]
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as ours:
        _serve(ours)

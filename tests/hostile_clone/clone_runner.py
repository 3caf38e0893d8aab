"""A warm process that forks a child per command, each with little memory and little time."""

import json
import os
import resource
import signal
import sys
import traceback
from pathlib import Path

MEMORY_BYTES = 3 << 30
SECONDS = 40


def main() -> None:
    """Read one job per line, have a child do it, answer how it ended."""
    import callboard.cli.handlers.opening
    import callboard.cli.reports.checkup
    import callboard.packs.writers_factory.factory
    import callboard.studio.studio
    import callboard.tools.builtin
    from callboard.cli.main import main as callboard

    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            _perform(job, callboard)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _perform(job: dict[str, object], callboard: object) -> None:
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        # A command that hangs is ended by the system, and told apart by its exit code.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        os.chdir(str(job["root"]))
        told = os.open(str(job["told"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(told, 1)
        os.dup2(told, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        code = callboard(list(job["words"]))  # type: ignore[operator,call-overload]
    except BaseException:  # noqa: BLE001 - told, and never to reach the parent's code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()

"""What a command in a cloned project has: little memory and little time."""

import resource
import signal

MEMORY_BYTES = 3 << 30
SECONDS = 40


def limit() -> None:
    """Have the system end a command of this process that takes too much, told by its exit code."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)

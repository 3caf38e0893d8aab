"""Whether anybody is there to be asked. Imports nothing that would slow a command's start."""

import sys


def is_attended() -> bool:
    """Say whether there is a person at a terminal who can be asked."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):
        # Closed, or not there at all.
        return False

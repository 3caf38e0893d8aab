"""What every conversation at the terminal needs: the next line, and silence while one waits."""

import asyncio
import sys
from contextlib import AbstractContextManager, nullcontext

from callboard.cli.acting.questions import read_line
from callboard.cli.bridge import Interrupt
from callboard.cli.output import clean, remark
from callboard.core.events import Event


async def next_line(prompt: str, interrupt: Interrupt) -> str | None:
    """Return what the user types; Ctrl-C and the end of the input both end the talk."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    is_terminal = sys.stdin.isatty()
    reading = asyncio.ensure_future(read_line() if is_terminal else _piped_line())
    asked = asyncio.ensure_future(interrupt.asked.wait())
    await asyncio.wait({reading, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    if reading.done():
        return reading.result()
    reading.cancel()
    return None


async def _piped_line() -> str | None:
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.rstrip("\r\n") if line else None


class Hush:
    """Shows nothing while the agent answers: in a talk only the answer counts."""

    @property
    def can_ask(self) -> bool:
        """Whether somebody sits at the terminal."""
        return sys.stdin.isatty()

    def __enter__(self) -> "Hush":
        """Begin."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End."""

    def show(self, event: Event) -> None:
        """Keep an event to itself."""
        del event

    def show_live(self, event: Event) -> None:
        """Keep an event that is not stored to itself."""
        del event

    def note(self, text: str) -> None:
        """Tell what the user has to know."""
        remark(clean(text))

    def set_aside(self) -> AbstractContextManager[object]:
        """Make room for a question."""
        return nullcontext()

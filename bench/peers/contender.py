"""What every contender does, and the payload all of them store."""

from pathlib import Path
from typing import Protocol

PAYLOAD_CHARS = 200


def payload() -> dict[str, str]:
    """Return what one step gives; the same for everybody."""
    return {"text": "x" * PAYLOAD_CHARS}


class Contender(Protocol):
    """A way to execute durable steps."""

    system: str
    """Whose it is: of several ways of one system, the fastest counts."""
    name: str

    async def open(self, folder: Path) -> None:
        """Get ready on an empty folder."""
        ...

    async def perform(self, runs: int, steps: int) -> None:
        """Execute runs at once, each with that many steps, one durable before the next begins."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...

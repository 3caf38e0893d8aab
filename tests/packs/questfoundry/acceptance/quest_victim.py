"""Plays loops in a process of its own and kills it, as `kill -9` does, where it is told to.

`python quest_victim.py ROOT LOOP PLACE`: PLACE is a step at whose question the process dies, or
`merge` for the moment within a merge when the snapshot is kept and its story hooks are not yet.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from questkit import Company, open_house

from callboard.models import Line, ModelRequest
from callboard.packs.questfoundry.story_hooks.ledger import HookLedger


def die(*_args: Any, **_more: Any) -> Any:
    """Be gone, with nothing flushed and nobody told."""
    os.kill(os.getpid(), signal.SIGKILL)


class Doomed(Company):
    """A company that is killed at a step."""

    place = ""

    def speak(self, request: ModelRequest) -> Line | str:
        if self.place in (request.step_key or ""):
            die()
        return super().speak(request)


async def play(root: Path, loop: str, place: str) -> None:
    company = Doomed()
    company.place = place
    if place == "merge":
        HookLedger.move = die  # type: ignore[method-assign]
    async with open_house(root, company) as house:
        await house.run(loop)


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))

"""Plays a recipe in a process of its own until somebody kills it.

`python performer.py PROJECT PROMPT_TYPE` hangs when an agent is asked that kind of prompt, and says
so on standard output.
"""

import asyncio
import sys
from pathlib import Path

from little_house import PACK, says

from callboard.models import Line, ModelRequest, Script
from callboard.testing.opening import open_scripted


async def main(root: Path, hangs_at: str) -> None:
    """Start the run and wait."""

    def answer(request: ModelRequest) -> Line | str:
        if request.prompt_type == hangs_at:
            sys.stdout.write(f"{request.run_id}\n")
            sys.stdout.flush()
            return Line(hang=True)
        return says()(request)

    async with open_scripted(root, Script(answer), PACK) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await studio.engine.wait(run.id)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

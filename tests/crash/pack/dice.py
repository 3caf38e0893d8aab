"""A choreography of numbers nobody can compute again, told to everything outside of the process."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from callboard.choreography import Stage, choreography
from callboard.core.vocabulary import Effect

_LUCK = random.SystemRandom()


def told(known: dict[str, float]) -> str:
    """Return what is known, to be found again wherever it comes to lie."""
    return " ".join(f"{key}:={value};" for key, value in known.items())


def note(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, f"{text}\n".encode())
    finally:
        os.close(handle)


async def roll(stage: Stage, known: dict[str, float], name: str, times: int) -> None:
    for number in range(times):
        key = f"{name}/{number}"
        drawn: Any = await stage.step(key, _LUCK.random, effect=Effect.PURE)
        known[stage.run.key(key)] = drawn


@choreography
async def dice(stage: Stage) -> Any:
    """Roll, and tell a model, a file, a child, a human, the ledger and whoever watches."""
    root, known = stage.studio.project.root, dict[str, float]()
    await roll(stage, known, "a", 5)
    await stage.ask("entry", "clerk", subject=told(known))
    await roll(stage, known, "b", 3)
    await stage.tool("checked", "append_checked", line=told(known))
    await roll(stage, known, "c", 3)
    await stage.step("file", lambda: note(root / "seen.txt", told(known)))
    await roll(stage, known, "d", 3)

    def start_child() -> None:
        text = f"open({str(root / 'seen.txt')!r}, 'a').write({told(known)!r} + chr(10))"
        subprocess.run([sys.executable, "-S", "-E", "-c", text], check=True)

    await stage.step("child", start_child)

    async def branch(inner: Stage, name: str) -> dict[str, float]:
        own = dict(known)
        await roll(inner, own, "roll", 3)
        await inner.tool("checked", "append_checked", line=f"{name} {told(own)}")
        await roll(inner, own, "again", 2)
        return own

    branches = await stage.parallel(
        {name: lambda inner, name=name: branch(inner, name) for name in ("one", "two")}
    )
    for own in branches.values():
        known |= own
    await stage.emit("rolled", told(known))
    await roll(stage, known, "e", 3)
    await stage.ask_human("word", told(known))
    await roll(stage, known, "f", 3)
    return told(known)

"""What the whole gate adds to a call: every layer a project's calls pass, on a real database.

Fallback, structure, queue, budget, retries, limits, circuits, ledger, telemetry (off), as the
studio composes them with its default settings, around a provider in this process that answers at
once. Overhead is such a call, one after the other, less the same call to the provider alone.
litellm's Router is asked in turns with it, less litellm's own call without the Router; its
provider is its own `mock_response`, which answers at once as well. It keeps no record of what was
called, and runs in an environment of its own, because it needs older packages than we do.

Nobody waits for the ledger's disk, so the time until every call is durably on record is shown
beside it. With a budget, what the call may take is reserved on disk before it is made; that is one
commit, and is compared with one.
"""

import asyncio
import json
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.gate_queue import Steady
from bench.report import Measured, Result, costlier, faster
from bench.workspace import fresh_folder
from callboard.models import DirectGate, Gate, Message, ModelRequest
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

GOAL_MS = 0.5
ROOT = Path(__file__).parent.parent
LITELLM = ROOT / ".venv-litellm" / "bin" / "python"
PEER = Path(__file__).parent / "peers" / "litellm_router.py"
UNLIMITED: dict[str, Any] = {}
LIMITED: dict[str, Any] = {"project": {"calls": 10_000_000}, "session": {"tokens": 10**12}}


@dataclass(frozen=True, slots=True)
class Turn:
    """One round, in milliseconds per call."""

    gate: float
    direct: float
    on_disk: float
    limited: float
    commit: float


def measure(*, quick: bool) -> Measured:
    """Call through everything and through nothing."""
    calls = 100 if quick else 500
    turns: list[Turn] = []
    theirs: list[tuple[float, float]] = []
    with _litellm() as ask:
        for _ in range(2 if quick else 6):
            turns.append(_turn(calls))
            if ask is not None:
                theirs.append(ask(calls))
    best = Turn(*(min(getattr(turn, name) for turn in turns) for name in Turn.__dataclass_fields__))
    added = best.gate - best.direct
    results = [
        Result(
            "overhead of the whole gate per call, median (ms)",
            added,
            best.direct,
            "the call inside",
            added / best.direct,
            f"under {GOAL_MS:g} ms",
            added < GOAL_MS,
        )
    ]
    notes = [
        f"best of {len(turns)} rounds of {calls} calls;"
        f" ours: {best.gate:.3f} ms through the gate, {best.direct:.3f} ms without"
    ]
    if theirs:
        router, bare = (min(each) for each in zip(*theirs, strict=True))
        name = "litellm Router, no record kept"
        results += [
            faster("overhead per call, median (ms)", added, router - bare, name, at_least=1.0),
            faster("a whole call, median (ms)", best.gate, router, name, at_least=None),
            faster(
                "a whole call, on record on disk (ms)", best.on_disk, router, name, at_least=None
            ),
        ]
        notes.append(f"litellm: {router:.2f} ms through the Router, {bare:.2f} ms without")
    else:
        notes.append("litellm is not installed: `make bench` sets it up")
    results.append(
        costlier(
            "a whole call with a budget, reserved on disk first, median (ms)",
            best.limited,
            best.commit,
            f"SQLite {sqlite3.sqlite_version}, one INSERT per commit",
            at_most=None,
        )
    )
    return Measured(tuple(results), tuple(notes))


def _turn(calls: int) -> Turn:
    with fresh_folder() as folder:
        gate, direct, on_disk = asyncio.run(_ours(folder / "free", calls, UNLIMITED))
        limited, _, _ = asyncio.run(_ours(folder / "limited", calls, LIMITED))
        return Turn(gate, direct, on_disk, limited, _commit_ms(folder / "raw.db", calls))


async def _ours(folder: Path, calls: int, budgets: dict[str, Any]) -> tuple[float, float, float]:
    """Return a call through the gate, without it, and through it until it is on disk."""
    provider = Steady(0.0)
    Project.init(folder / "project")
    opening = Opening(
        providers={"script": provider},
        flags={"models": {"default": "script"}, "budgets": budgets},
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(folder / "project", opening) as studio:
        session = await studio.sessions.create("bench")
        ask = _Asking(session.id)
        await _median_ms(studio.gate, ask, 100)
        through = await _median_ms(studio.gate, ask, calls)
        direct = await _median_ms(DirectGate({"script": provider}), ask, calls)
        await studio.accounts.flush()
        started = time.perf_counter()
        for _ in range(calls):
            await studio.gate.complete(ask())
        await studio.accounts.flush()
        return through, direct, (time.perf_counter() - started) / calls * 1000


class _Asking:
    """Makes requests as a choreography makes them, each with a prompt record of its own."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._count = 0

    def __call__(self) -> ModelRequest:
        self._count += 1
        return ModelRequest(
            "script",
            (Message("user", "Who has the key?"),),
            session_id=self._session_id,
            agent_id="keeper",
            prompt_id=f"prompt_{self._count}",
            priority=60,
            metadata={"pack": "bench", "prompt_type": "ask", "estimated_tokens": 5},
        )


async def _median_ms(gate: Gate, ask: Callable[[], ModelRequest], times: int) -> float:
    took: list[float] = []
    for _ in range(times):
        request = ask()
        started = time.perf_counter()
        await gate.complete(request)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


def _commit_ms(path: Path, times: int) -> float:
    """Return what one durable row costs SQLite itself."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    took: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        connection.execute("INSERT INTO notes (text) VALUES (?)", ("x" * 200,))
        took.append((time.perf_counter() - started) * 1000)
    connection.close()
    return statistics.median(took)


@contextmanager
def _litellm() -> Iterator[Callable[[int], tuple[float, float]] | None]:
    """Start litellm beside us; yield how to ask it, or None where it is not installed."""
    if not LITELLM.exists():
        yield None
        return
    command = [str(LITELLM), str(PEER)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None

        def ask(calls: int) -> tuple[float, float]:
            print(calls, file=peer.stdin, flush=True)
            told = json.loads(peer.stdout.readline())  # type: ignore[union-attr]
            return told["router_ms"], told["bare_ms"]

        ask(20)
        yield ask
        with suppress(BrokenPipeError):
            peer.stdin.close()

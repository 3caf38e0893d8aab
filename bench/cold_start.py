"""`callboard --help` in a new process against `python -c pass`, by turns; the median counts."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.report import Measured, costlier


def measure(*, quick: bool) -> Measured:
    """Start both many times."""
    times = 5 if quick else 40
    ours = [str(Path(sys.executable).parent / "callboard"), "--help"]
    floor = [sys.executable, "-c", "pass"]
    for command in (ours, floor):
        _start(command)
    took: dict[str, list[float]] = {"ours": [], "floor": []}
    for _ in range(times):
        took["ours"].append(_start(ours))
        took["floor"].append(_start(floor))
    cold, least = (statistics.median(took[name]) * 1000 for name in ("ours", "floor"))
    name = "callboard --help, cold (ms)"
    return Measured(
        (costlier(name, cold, least, "python -c pass", at_most=6),),
        (f"median of {times} starts each",),
    )


def _start(command: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took = time.perf_counter() - started
    assert "--help" not in command or "doctor" in done.stdout, "help must list the commands"
    return took

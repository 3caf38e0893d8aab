"""Results as values, as a table, as `results.json` and as `docs/benchmarks.md`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

BENCH = Path(__file__).parent
RESULTS = BENCH / "results.json"
DOCS = BENCH.parent / "docs" / "benchmarks.md"

HEADINGS = ("what", "ours", "peer", "", "ratio", "goal", "met")


@dataclass(frozen=True, slots=True)
class Result:
    """One line. `name` says the unit of `ours` and `peer`; the goal is for the ratio or for `ours`.

    `met` is None where the line is for information only.
    """

    name: str
    ours: float
    peer: float | None
    peer_name: str
    ratio: float | None
    goal: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Measured:
    """What one benchmark found, and what a reader should know about it."""

    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()


def faster(
    name: str, ours: float, peer: float, peer_name: str, *, at_least: float | None
) -> Result:
    """Compare two costs: the ratio says how many times cheaper ours is."""
    ratio = peer / ours
    goal = "" if at_least is None else f"at least {at_least:g}x"
    met = None if at_least is None else ratio >= at_least
    return Result(name, ours, peer, peer_name, ratio, goal, met)


def costlier(
    name: str, ours: float, peer: float, peer_name: str, *, at_most: float | None, goal: str = ""
) -> Result:
    """Compare two costs: the ratio says how many times the peer's cost ours is."""
    ratio = ours / peer
    words = goal or ("" if at_most is None else f"at most {at_most:g}x")
    return Result(name, ours, peer, peer_name, ratio, words, at_most and ratio <= at_most)


def table(results: Sequence[Result]) -> str:
    """Return the results as a Markdown table that also reads well in a terminal."""
    rows = [HEADINGS, *(_cells(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["| " + " | ".join(_padded(row, widths)) + " |" for row in rows]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def write_results(results: Sequence[Result]) -> None:
    """Write `bench/results.json`."""
    text = json.dumps([asdict(result) for result in results], indent=2, ensure_ascii=False)
    RESULTS.write_text(text + "\n", encoding="utf-8")


def write_docs(
    command: str,
    facts: Mapping[str, str],
    measured: Mapping[str, Measured],
    methods: Mapping[str, str],
) -> None:
    """Write `docs/benchmarks.md`."""
    results = [result for each in measured.values() for result in each.results]
    parts = [
        "# Benchmarks",
        f"Made by `{command}`; do not edit by hand. Peers run side by side with Callboard, in"
        " turns, with the same payload and the same durability. Machines are noisy: read the"
        " ratios, not the times.",
        table(results),
        "A line without a goal is for information. The numbers are in `bench/results.json`.",
        "## Where",
        "\n".join(f"- {name}: {text}" for name, text in facts.items()),
        "## How",
    ]
    for name, each in measured.items():
        parts += [f"### {name}", methods[name].strip()]
        if each.notes:
            parts.append("\n".join(f"- {note}" for note in each.notes))
    DOCS.parent.mkdir(exist_ok=True)
    DOCS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _cells(result: Result) -> tuple[str, ...]:
    met = {True: "yes", False: "NO", None: ""}[result.met]
    ratio = "" if result.ratio is None else _ratio(result.ratio)
    peer = "" if result.peer is None else _number(result.peer)
    return (
        result.name,
        _number(result.ours),
        peer,
        result.peer_name,
        ratio,
        result.goal,
        met,
    )


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    right = (1, 2, 4)
    return [
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _ratio(value: float) -> str:
    return f"1/{1 / value:.0f}" if 0 < value < 0.1 else f"{value:.1f}x"

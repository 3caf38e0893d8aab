"""Which requirements of the specification are proven by a passing test, and which are not.

    python tools/trace.py --spec ../shared/spec              runs the suite, then reports
    python tools/trace.py --spec ../shared/spec --no-run     reports on the last run

Exit codes: 0 all marks name real requirements; 1 a mark names none; 2 there is nothing to judge.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

SYSTEMS = {
    "Control Room": ("CR",),
    "Writers Factory": ("WF",),
    "QuestFoundry": ("QF",),
    "Alfred": ("AL",),
    "Sylk": ("RT", "LLM", "ERR", "TOOL", "SEC", "SKL", "HK", "PIPE", "VG", "PLAN"),
}
_PREFIXES = "|".join(prefix for prefixes in SYSTEMS.values() for prefix in prefixes)
_ID = rf"(?:{_PREFIXES})-G?\d+[a-z]?"
# An item opens a line, a bullet or a table row, or stands in bold within a line (`**QF-98** …`,
# `**WF-G60a A1** …`). Anywhere else an id is only mentioned.
_AT_START = re.compile(rf"^\s*(?:[-*+]\s+|\|\s*)?(?:\*\*)?({_ID})\b")
_IN_BOLD = re.compile(rf"\*\*({_ID})\b[^*]*\*\*")
_PARTS = re.compile(r"^([A-Z]+)-(G?)(\d+)([a-z]?)$")
_FINISHED = (0, 1)


class NothingToJudge(Exception):
    """The specification or the results are missing or empty."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the tests say about the requirements."""

    proven: frozenset[str]
    failing: frozenset[str]
    unknown: Mapping[str, tuple[str, ...]]


def read_spec(folder: Path) -> dict[str, Path]:
    """Return every requirement id with the file that defines it."""
    if not folder.is_dir():
        raise NothingToJudge(
            f"No specification at {folder}. Name its folder: make trace SPEC=path/to/spec"
        )
    files = [file for file in sorted(folder.rglob("*.md")) if file.name != "README.md"]
    if not files:
        raise NothingToJudge(f"{folder} holds no specification files (*.md).")
    defined: dict[str, Path] = {}
    for file in files:
        ids = ids_in(file.read_text(encoding="utf-8"))
        if not ids:
            raise NothingToJudge(f"{file} defines no requirement; is it still a specification?")
        for each in ids:
            if each in defined:
                raise NothingToJudge(f"{each} is defined in {defined[each]} and in {file}.")
            defined[each] = file
    return defined


def ids_in(text: str) -> set[str]:
    """Return the ids a specification text defines."""
    found: set[str] = set()
    for line in text.splitlines():
        start = _AT_START.match(line)
        if start:
            found.add(start[1])
        found.update(match[1] for match in _IN_BOLD.finditer(line))
    # Where an item is given in lettered parts, each part is proven for itself.
    whole = {each[:-1] for each in found if each[-1].isalpha()}
    return found - whole


def read_results(file: Path) -> dict[str, Any]:
    """Return what the suite recorded: per test its outcome and its ids."""
    if not file.is_file():
        raise NothingToJudge(f"No results at {file}. Run without --no-run.")
    results = json.loads(file.read_text(encoding="utf-8"))
    if results["exit_status"] not in _FINISHED:
        raise NothingToJudge(
            f"The suite did not run to its end (pytest exit status {results['exit_status']})."
        )
    if results["not_collected"]:
        names = ", ".join(results["not_collected"])
        raise NothingToJudge(f"The suite is not whole: {names} could not be collected.")
    if not results["tests"]:
        raise NothingToJudge("The suite ran no test.")
    return results["tests"]


def judge(defined: Iterable[str], tests: Mapping[str, Any]) -> Verdicts:
    """Hold the marks of the tests against the requirements."""
    known = set(defined)
    proven: set[str] = set()
    carried: set[str] = set()
    unknown: dict[str, list[str]] = {}
    for name, test in sorted(tests.items()):
        for each in test["ids"]:
            if each not in known:
                unknown.setdefault(each, []).append(name)
            elif test["outcome"] == "passed":
                proven.add(each)
            else:
                carried.add(each)
    # A requirement with one failing test is not met, however many others pass.
    failing = {
        each
        for test in tests.values()
        if test["outcome"] == "failed"
        for each in test["ids"]
        if each in known
    }
    return Verdicts(
        frozenset(proven - failing),
        frozenset(failing | (carried - proven)),
        {each: tuple(names) for each, names in sorted(unknown.items())},
    )


def report(defined: Mapping[str, Path], verdicts: Verdicts) -> str:
    """Return the report: per system how many are proven, and which are not."""
    lines: list[str] = []
    for system, prefixes in SYSTEMS.items():
        groups = {prefix: _of(prefix, defined) for prefix in prefixes}
        ids = [each for group in groups.values() for each in group]
        lines.append(f"{system}: {_count(ids, verdicts)}")
        for prefix, group in groups.items():
            label = f"{prefix}: {_count(group, verdicts)}; " if len(prefixes) > 1 else ""
            missing = [each for each in group if each not in verdicts.proven]
            lines.append(f"  {label}not proven: {ranges(missing) or 'none'}")
    lines.append(f"All: {_count(defined, verdicts)}")
    if verdicts.failing:
        lines.append(
            f"Marked, but by a test that failed or was skipped: {ranges(verdicts.failing)}"
        )
    for each, names in verdicts.unknown.items():
        near = difflib.get_close_matches(each, defined, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        lines.append(f"{each} is no requirement{hint}, but is marked on {', '.join(names)}")
    return "\n".join(lines)


def ranges(ids: Iterable[str]) -> str:
    """Return ids in order, neighbours as `CR-3..9`."""
    runs: list[str] = []
    ordered = sorted(ids, key=_order)
    for _, group in groupby(enumerate(ordered), key=lambda each: _run_key(*each)):
        names = [name for _, name in group]
        last = names[-1].rpartition("-")[2].removeprefix("G")
        runs.append(names[0] if len(names) == 1 else f"{names[0]}..{last}")
    return ", ".join(runs)


def _run_key(index: int, name: str) -> tuple[Any, ...]:
    prefix, group, number, letter = _order(name)
    # Lettered parts of one item form a run of their own.
    return (prefix, group, number if letter else "", 0 if letter else number - index)


def _order(name: str) -> tuple[str, str, int, str]:
    match = _PARTS.match(name)
    if match is None:
        raise ValueError(f"{name!r} is not a requirement id")
    return match[1], match[2], int(match[3]), match[4]


def _of(prefix: str, ids: Iterable[str]) -> list[str]:
    return sorted((each for each in ids if each.startswith(f"{prefix}-")), key=_order)


def _count(ids: Iterable[str], verdicts: Verdicts) -> str:
    every = list(ids)
    return f"{sum(each in verdicts.proven for each in every)} of {len(every)} proven"


def run_suite(results: Path) -> None:
    """Run all tests and record what they prove."""
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-n", "2", f"--trace-results={results}"]
    subprocess.run(command, check=False)  # noqa: S603 - our own interpreter and arguments


def main(arguments: Sequence[str]) -> int:
    """Trace, and say by the exit code whether all marks are real."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path(".trace/results.json"))
    parser.add_argument("--no-run", action="store_true", help="judge the last run")
    options = parser.parse_args(arguments)
    try:
        defined = read_spec(options.spec)
        if not options.no_run:
            run_suite(options.results)
        verdicts = judge(defined, read_results(options.results))
    except NothingToJudge as problem:
        print(problem, file=sys.stderr)
        return 2
    print(report(defined, verdicts))
    return 1 if verdicts.unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m bench`: measure, print the table, write `bench/results.json`."""

import argparse
import sys
import traceback

from bench import machine
from bench.apart import measure_apart
from bench.report import Measured, Result, table, write_docs, write_results

BENCHMARKS = (
    "durable_steps",
    "concurrent_steps",
    "ledger",
    "stored_bytes",
    "resume",
    "cold_start",
    "assembly",
    "waiting_runs",
    "gate_queue",
    "loop_pass",
    "recipe_run",
    "gate_overhead",
    "story_tools",
    "factory_prompt",
    "factory_consolidation",
    "knowledge_queries",
    "turn_quick",
    "kitchen_match",
    "quest_formats",
    "http_health",
    "quest_bars",
)


def main() -> int:
    """Run the benchmarks that were asked for; a benchmark that breaks is a failure."""
    options = _options()
    facts = machine.facts()
    for name, text in facts.items():
        print(f"{name}: {text}")
    chosen = options.only or list(BENCHMARKS)
    measured: dict[str, Measured] = {}
    methods: dict[str, str] = {}
    broken: list[str] = []
    for name in chosen:
        print(f"\n{name} ...", flush=True)
        try:
            measured[name], methods[name] = measure_apart(name, quick=options.quick)
        except Exception:  # noqa: BLE001 - the border of a benchmark: the others still run
            traceback.print_exc()
            broken.append(name)
            continue
        _show(measured[name])
    results: list[Result] = [result for each in measured.values() for result in each.results]
    if len(measured) > 1:
        print(f"\n{table(results)}")
    if not options.quick and not options.only:
        write_results(results)
    if options.write_docs:
        write_docs("make bench BENCH_ARGS=--write-docs", facts, measured, methods)
    if broken:
        print(f"\nbroken: {', '.join(broken)}")
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=BENCHMARKS,
        help="measure just this one; results.json is left alone (may be repeated)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="smaller sizes, to see that it works; writes nothing"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="also write docs/benchmarks.md (a full run only)"
    )
    options = parser.parse_args()
    if options.write_docs and (options.quick or options.only):
        parser.error("--write-docs publishes a full run: leave out --quick and --only")
    return options


def _show(measured: Measured) -> None:
    print(table(measured.results))
    for note in measured.notes:
        print(f"  {note}")


if __name__ == "__main__":
    sys.exit(main())

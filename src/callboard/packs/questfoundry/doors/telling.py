"""What commands print: how a loop ended, the bars in colour words, units, story hooks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.cli import exits
from callboard.cli.output import clean, echo, echo_facts, echo_json_line, echo_table, one_line
from callboard.core.events import Emitted, Event
from callboard.core.vocabulary import RunRecord
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.units.unit import WorkUnit
from callboard.studio.studio import Studio

GATE_BLOCK: Final = 4
STALLED: Final = exits.WAITING
# What a book is compared with: the text a Showrunner would read without any of this.
BASELINE_LINES: Final = 10_300


def tell_unit(foundry: Foundry, unit: WorkUnit) -> None:
    """Print a unit with what it made."""
    echo_facts(
        [
            ("unit", unit.id),
            ("loop", unit.loop),
            ("status", unit.status.value),
            ("outcome", unit.outcome),
            ("reason", unit.reason or ""),
            ("error", unit.error or ""),
            ("deferred", ", ".join(unit.deferral_tags)),
            ("snapshot", unit.snapshot or ""),
            ("next", unit.next_loop or ""),
        ]
    )
    rows = [(kind, str(row["ref"])) for kind, row in unit.made.items()]
    if rows:
        echo()
        echo_table(("ARTIFACT", "NAME"), rows)


def tell_report(report: Mapping[str, Any]) -> None:
    """Print the bars of a gatecheck and what would mend them."""
    rows = [
        (str(row["bar"]), str(row["status"]), one_line(str(row["evidence"])))
        for row in report["bars"]
    ]
    echo_table(("BAR", "IS", "BECAUSE"), rows)
    for row in cast("Sequence[Mapping[str, Any]]", report["remediation"]):
        echo(f"  {clean(str(row['fix']))}  ({row['owner_role']}, {row['target_step']})")
    for row in cast("Sequence[Mapping[str, Any]]", report.get("waivers", ())):
        told = f"  waived: {row['bar']} at {row['scope']} by {row['by']}, until {row['expiry']}"
        echo(clean(f"{told}: {row['rationale']}"))
    echo(f"Decision: {report['decision']}")


def report_of(foundry: Foundry, unit: WorkUnit) -> dict[str, Any] | None:
    """Return the newest gate report of a unit."""
    row = unit.made.get("gatecheck_report")
    return None if row is None else foundry.shelf.body(str(row["sha256"]))


def conclude_loop(studio: Studio, run_id: str, *, as_json: bool) -> int:
    """Print how a loop ended; return the exit code."""
    foundry = foundry_of(studio)
    run = studio.engine.load(run_id)
    units = units_of(foundry, run)
    unit = units[-1] if units else None
    report = None if unit is None else report_of(foundry, unit)
    code = exit_code(run.is_terminal, unit, report)
    if as_json:
        # The last line of a stream of events.
        echo_json_line(
            {
                "run_id": run.id,
                "state": run.state.value,
                "unit": None if unit is None else unit.shape(),
                "loops": [{"loop": each.loop, "unit": each.id} for each in units],
                "report": report,
                "error": None if run.error is None else run.error.to_json(),
            }
        )
        return code
    for each in units:
        tell_unit(foundry, each)
    if report is not None:
        echo()
        tell_report(report)
    if run.error is not None:
        echo(clean(f"{run.error.code}: {run.error.message}"))
        if run.error.fix:
            echo(clean(run.error.fix))
    return code


def units_of(foundry: Foundry, run: RunRecord) -> list[WorkUnit]:
    """Return the units a run worked on, in order: of a chain, one for each loop it came to."""
    own = foundry.units.of_run(run.id)
    if own is not None:
        return [foundry.units.find(own)]
    # A chain has a unit for each hop, under the name of the step that opened it.
    found: list[WorkUnit] = []
    while (each := foundry.units.of_run(f"{run.id}/hop/{len(found) + 1}/open")) is not None:
        found.append(foundry.units.find(each))
    return found


def exit_code(is_over: bool, unit: WorkUnit | None, report: Mapping[str, Any] | None) -> int:
    """Return what the end of a loop means for a script."""
    if not is_over:
        return STALLED
    if unit is None or unit.outcome == "failed":
        return exits.FAILED
    if report is not None and report["decision"] == "block":
        return GATE_BLOCK
    return exits.OK if unit.outcome == "success" else STALLED


def told_in(events: Sequence[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return what loops told in some events, by name."""
    return [
        (each.body.name.removeprefix("loop."), cast("dict[str, Any]", each.body.data))
        for each in events
        if isinstance(each.body, Emitted) and each.body.name.startswith("loop.")
    ]


def context_rows(decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return how large what the Showrunner was shown was, by kind of decision."""
    rows: dict[str, dict[str, Any]] = {}
    for each in decisions:
        parts = cast("dict[str, dict[str, int]]", each.get("context") or {})
        if not parts:
            continue
        lines = {name: part["lines"] for name, part in parts.items()}
        counted = sum(count for name, count in lines.items() if name not in ("state", "message"))
        kind = "strategic" if each["kind"] == "decide_loop" else "tactical"
        row = rows.setdefault(kind, {"kind": kind, "calls": 0, "lines": 0, "state": 0, "tokens": 0})
        row["calls"] += 1
        row["lines"] = max(row["lines"], counted)
        row["state"] = max(row["state"], lines.get("state", 0))
        row["tokens"] = max(row["tokens"], int(each.get("context_tokens") or 0))
    for row in rows.values():
        row["below_baseline_percent"] = round(100 * (1 - row["lines"] / BASELINE_LINES), 1)
    return list(rows.values())

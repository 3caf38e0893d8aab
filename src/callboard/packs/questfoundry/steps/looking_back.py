"""Code of the post-mortem: figures from the records, lessons that wait for a human, the report."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, cast

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import Rows, said_in
from callboard.packs.questfoundry.units.unit import WorkUnit

_STATS: Final = (
    "iterations",
    "role_calls",
    "showrunner_calls",
    "deviations",
    "fallbacks",
    "gate_blocks",
)


def metrics_of(foundry: Foundry, units: Sequence[WorkUnit]) -> dict[str, Json]:
    """Count what the records of some units say."""
    gates: dict[str, Counter[str]] = {}
    bars: dict[str, Counter[str]] = {}
    for unit in units:
        row = unit.made.get("gatecheck_report")
        if row is None:
            continue
        report = foundry.shelf.body(str(row["sha256"]))
        gates.setdefault(unit.loop, Counter())[str(report["decision"])] += 1
        for bar in report["bars"]:
            if bar["status"] in ("red", "yellow"):
                bars.setdefault(str(bar["bar"]), Counter())[str(bar["status"])] += 1
    took = [unit.closed_at - unit.opened_at for unit in units if unit.closed_at]
    sums = {name: sum(int(unit.stats.get(name, 0)) for unit in units) for name in _STATS}
    hooks = Counter(each.status for each in foundry.hooks.all())
    return {
        "units": len(units),
        "units_by_outcome": dict(Counter(unit.outcome or "open" for unit in units)),
        "units_by_loop": dict(Counter(unit.loop for unit in units)),
        "mean_minutes": round(sum(took) / len(took) / 60_000, 1) if took else None,
        "gates_by_loop": {loop: dict(each) for loop, each in gates.items()},
        "blemishes_by_bar": {bar: dict(each) for bar, each in bars.items()},
        "story_hooks": dict(hooks),
        **sums,
    }


async def gather_metrics(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Count the units that were named, or all that are closed."""
    named = [foundry.units.find(each) for each in foundry.units.find(view.unit).upstream]
    units = named or [each for each in foundry.units.all() if each.outcome]
    return CodeOutcome({"retro_metrics": {"counts": metrics_of(foundry, units)}})


async def open_actions(foundry: Foundry, view: StepView) -> Json:
    """Show what earlier retros left to be done."""
    last = foundry.shelf.newest("action_items")
    if last is None:
        return {"open": []}
    rows = cast("Rows", foundry.shelf.body(last.sha256)["items"])
    return {"open": [row for row in rows if row["status"] == "open"]}


async def unapproved(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Take out every approval: only a human gives it, by `callboard quest lessons approve`."""
    said = cast("Rows", said_in(view, "practice_updates")["updates"])
    rows = [{**row, "approved_by": ""} for row in said]
    return CodeOutcome({"practice_updates": {"updates": rows}})


async def publish_retro(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Put the retro together, to read."""
    found = view.content("retro_findings")
    actions = cast("Rows", view.content("action_items")["items"])
    counts = view.content("retro_metrics")["counts"]
    lines = ["# Looking back", ""]
    for heading, field in (("Went well", "well"), ("Went poorly", "poorly")):
        lines += [f"## {heading}", ""]
        lines += [f"- {row['told']} ({row['cites']})" for row in found[field]]
        lines.append("")
    lines += ["## Actions", ""]
    lines += [f"- {row['description']} ({row['owner_role']}, {row['target']})" for row in actions]
    report = {
        "body_md": "\n".join(lines) + "\n",
        "metrics": f"{counts.get('units', 0)} units",
        "actions": [str(row["id"]) for row in actions],
    }
    return CodeOutcome({"post_mortem_report": report}, next_loop="archive_snapshot")

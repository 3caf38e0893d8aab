"""Code of the post-mortem: figures from the records, lessons that wait for a human, the report."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.reports import Flaws, Rows, flaw, rows_in, said_in
from callboard.packs.questfoundry.units.unit import WorkUnit
from callboard.packs.questfoundry.verdict import Bar, BarFinding

_STATS: Final = (
    "iterations",
    "role_calls",
    "showrunner_calls",
    "deviations",
    "fallbacks",
    "gate_blocks",
)


def retro(foundry: Foundry, view: StepView) -> Flaws:
    """Enough findings that cite something, everybody heard, complete actions, nobody blamed."""
    counts = view.content("retro_metrics")["counts"]

    def told(place: str, check: str, what: str, fix: str, step: str) -> tuple[Bar, BarFinding]:
        return flaw("integrity", check, place, what, fix, "showrunner", step=step)

    citable = {*counts, *counts.get("unit_ids", ())}
    author = foundry.page().author.casefold().strip()
    for field in ("well", "poorly", "surprises"):
        rows = rows_in(view, "retro_findings", field)
        if field != "surprises" and not 3 <= len(rows) <= 5:
            what, fix = f"{len(rows)} findings", "name three to five"
            yield told(field, "findings", what, fix, "step_4_synthesize")
        for row in rows:
            if not any(each in str(row["cites"]) for each in citable):
                what, fix = f"cites {row['cites']!r}", "cite a figure or a unit"
                yield told(field, "uncited", what, fix, "step_4_synthesize")
            if author and author in str(row["told"]).casefold():
                what, fix = "names a person", "say what happened, not who is to blame"
                yield told(field, "blame", what, fix, "step_4_synthesize")
    spoke = {str(row["role"]) for row in rows_in(view, "role_feedback", "voices")}
    asked = {*view.loop.by_id["step_3_collect_feedback"].roles} & {*counts.get("roles", ())}
    for role in sorted(asked - spoke):
        what, fix = "took part and was not heard", "ask for its feedback"
        yield told(role, "unheard", what, fix, "step_3_collect_feedback")
    yield from _flawed_actions(foundry, view, told)


def _flawed_actions(foundry: Foundry, view: StepView, told: Callable[..., Any]) -> Flaws:
    items, step = rows_in(view, "action_items", "items"), "step_5_action_items"
    pressing = [row for row in items if row["priority"] == "high"]
    if len(pressing) > 5:
        what = f"{len(pressing)} of high priority"
        yield told("actions", "actions", what, "keep five", step)
    for row in items:
        if not all(row.get(name) for name in ("owner_role", "target", "success", "priority")):
            what = "lacks an owner, a target or what success is"
            yield told(row["id"], "actions", what, "complete it", step)
    for row in _left_open(foundry, view):
        if row["id"] not in {each["id"] for each in items}:
            what, fix = "was left open and is not looked at", "list it, as open, done or dropped"
            yield told(row["id"], "unreviewed", what, fix, step)


def _left_open(foundry: Foundry, view: StepView) -> Rows:
    """Return the actions that the retro before this one left open."""
    before = [each for each in foundry.shelf.all("action_items") if each.tu_id != view.unit]
    rows = cast("Rows", foundry.shelf.body(before[-1].sha256)["items"]) if before else []
    return [row for row in rows if row["status"] == "open"]


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
        "unit_ids": [unit.id for unit in units],
        "roles": sorted(
            {
                foundry.shelf.find(str(row["ref"])).produced_by
                for unit in units
                for row in unit.made.values()
            }
        ),
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
    """Show what the retro before left to be done."""
    return {"open": cast("list[Json]", _left_open(foundry, view))}


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

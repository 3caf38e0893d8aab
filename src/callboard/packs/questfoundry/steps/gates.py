"""Gates of loops and the gatecheck itself: intake, evidence, decision, and the merge into Cold."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.loop import CodeOutcome, Misfit, StepView
from callboard.core.canonical import Json
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.cold.snapshots import BaseMoved, Merging
from callboard.packs.questfoundry.foundry import Foundry
from callboard.packs.questfoundry.steps.binding import judge_bundle
from callboard.packs.questfoundry.steps.facts import FACTS, PURE
from callboard.packs.questfoundry.steps.reports import (
    bars_of,
    body_of,
    judged,
    report_in,
    said_in,
    with_opinions,
)
from callboard.packs.questfoundry.units.unit import UnitStatus
from callboard.packs.questfoundry.verdict import (
    GatecheckReport,
    GateMode,
    is_waived,
    waived,
)
from callboard.store.connection import Connection

_OWNER_LOOPS: Final = {
    "plotwright": "story_spark",
    "scene_smith": "story_spark",
    "lore_weaver": "lore_deepening",
    "codex_curator": "codex_expansion",
    "style_lead": "style_tune_up",
    "art_director": "art_touch_up",
    "audio_director": "audio_pass",
    "translator": "translation_pass",
}


async def _report(foundry: Foundry, view: StepView) -> GatecheckReport:
    options: Mapping[str, Any] = view.step.options
    name = str(options.get("facts", ""))
    bars = cast("list[str]", options.get("bars", []))
    mode = cast("GateMode", options.get("mode", "pre_gate"))
    if name == "bundle":
        return await judge_bundle(foundry, view, bars)
    book = None if name in PURE else _book(foundry, view)
    extra = FACTS[name](foundry, view) if name else ()
    return judged(book, bars, mode, extra, rules=foundry.rules)


def _book(foundry: Foundry, view: StepView) -> Book:
    return foundry.book_with(foundry.behind(foundry.units.find(view.unit)))


async def gate_facts(foundry: Foundry, view: StepView) -> Json:
    """Show the gatekeeper what code found."""
    report = waived(await _report(foundry, view), foundry.waivers.standing())
    told = body_of(report)
    return {name: told[name] for name in ("decision", "why", "bars", "findings")}


async def gate_verdict(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Put the gatekeeper's opinion on top of what code found; the decision follows."""
    said = said_in(view, "gatecheck_report")
    judgement = with_opinions(await _report(foundry, view), said.get("bars", ()))
    report = waived(judgement, foundry.waivers.standing())
    body = body_of(report, view)
    return CodeOutcome({"gatecheck_report": body}, message=f"{report.decision.value}: {report.why}")


async def gate_intake(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Lock the units that are judged: those that were named, or all that are ready."""
    own = foundry.units.find(view.unit)
    wanted = [foundry.units.find(each) for each in own.upstream]
    if not wanted:
        wanted = foundry.units.ready_ones()
    wanted = [each for each in wanted if each.status is not UnitStatus.COLD_MERGED]
    tip = foundry.cold.tip()
    targets = [
        {"tu_id": unit.id, "artifact_id": str(row["ref"]), "sha256": str(row["sha256"])}
        for unit in wanted
        for row in unit.made.values()
    ]
    if not targets:
        told = "nothing is ready for a gatecheck"
        return CodeOutcome(errors=(Misfit("gate_intake", told),), message=told)

    def act(connection: Connection) -> None:
        for unit in wanted:
            held = foundry.units.load(connection, unit.id)
            if held.status is UnitStatus.DEFERRED:
                held = held.moved(UnitStatus.STABILIZING)
            if held.status is UnitStatus.STABILIZING:
                foundry.units.save(connection, held.moved(UnitStatus.GATECHECK))

    view.scope.commit_with(act)
    intake = {"targets": targets, "base": tip.id if tip else ""}
    return CodeOutcome({"gate_intake": intake}, message=f"{len(wanted)} units")


def _targets(foundry: Foundry, view: StepView) -> dict[str, dict[str, str]]:
    """Return the hashes of what is judged, by unit and kind."""
    found: dict[str, dict[str, str]] = {}
    for row in view.content("gate_intake")["targets"]:
        kind = str(row["artifact_id"]).partition(".")[0]
        found.setdefault(str(row["tu_id"]), {})[kind] = str(row["sha256"])
    return found


async def evidence_scan(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Compute all eight bars over the book as it would be."""
    units = [foundry.units.find(each) for each in _targets(foundry, view)]
    report = judged(foundry.book_with(units), [], "gatecheck", rules=foundry.rules)
    facts: list[Json] = [
        {
            "bar": each.bar.value,
            "check": found.check if found else "all",
            "result": (found.status if found else each.status).value,
            "locations": [found.place] if found else [],
            "told": found.evidence if found else each.evidence,
            "smallest_fix": found.smallest_fix if found else "",
            "owner_role": found.owner_role if found else "",
            "target_step": found.target_step if found else "",
            "loop": found.loop if found else "",
        }
        for each in report.bars
        for found in (each.findings or (None,))
    ]
    return CodeOutcome({"bar_evidence": {"facts": facts}}, message=report.why)


async def only_worse(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Keep of the gatekeeper's opinion what is worse than code's, or judges what code left open."""
    units = [foundry.units.find(each) for each in _targets(foundry, view)]
    base = judged(foundry.book_with(units), [], "gatecheck", rules=foundry.rules)
    said = said_in(view, "bar_results")
    report = with_opinions(base, said.get("bars", ()))
    return CodeOutcome({"bar_results": {"bars": bars_of(report)}})


async def decide(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Derive the decision from the bars."""
    rows = cast("list[dict[str, Any]]", view.content("bar_evidence")["facts"])
    findings = [
        {
            "check": row["check"],
            "bar": row["bar"],
            "status": row["result"],
            "place": (row["locations"] or ["book"])[0],
            "evidence": row["told"],
            "smallest_fix": row["smallest_fix"],
            "owner_role": row["owner_role"],
            "loop": row["loop"],
            "target_step": row["target_step"],
        }
        for row in rows
        if row["result"] in ("yellow", "red", "unknown")
    ]
    made = report_in({"bars": view.content("bar_results")["bars"], "findings": findings})
    results = waived(made, foundry.waivers.standing())
    body = body_of(results)
    remedies = [
        *(
            {
                "bar": each.bar.value,
                "fix": f"{found.place}: {found.smallest_fix or 'look at it'}",
                "owner_role": found.owner_role or "plotwright",
                "target_step": found.target_step,
                "loop": found.loop or _OWNER_LOOPS.get(found.owner_role, "story_spark"),
            }
            for each in results.bars
            for found in each.findings
            if not any(waiver.covers(each.bar, found) for waiver in results.waivers)
        ),
        *(
            {
                "bar": each.bar.value,
                "fix": each.smallest_fix,
                "owner_role": each.owner_role,
                "target_step": each.target_step,
                "loop": _OWNER_LOOPS.get(each.owner_role, "story_spark"),
            }
            for each in results.bars
            if each.source == "llm"
            and each.smallest_fix
            and not each.findings
            and not is_waived(each, results.waivers)
        ),
    ]
    body |= {
        "checked": view.content("gate_intake")["targets"],
        "remediation": remedies,
        "scope": ", ".join(_targets(foundry, view)),
    }
    return CodeOutcome({"gatecheck_report": body}, message=f"{body['decision']}: {body['why']}")


async def has_blemish(foundry: Foundry, view: StepView) -> bool:
    """Say whether there is anything to be mended."""
    report = view.content("gatecheck_report")
    return report is not None and report["decision"] != "pass"


async def is_merge(foundry: Foundry, view: StepView) -> bool:
    """Say whether the work is merged."""
    decision = view.content("merge_decision")
    return decision is not None and decision["action"] == "merge"


async def route_by_decision(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Hold the Showrunner to the report: what is blocked goes back, whatever was said."""
    report = view.content("gatecheck_report")
    said = said_in(view, "merge_decision")
    if report["decision"] == "block":
        said |= {"action": "rework", "reason": said.get("reason") or report["why"]}
    elif said["action"] == "rework":
        said["action"] = "hold"
    next_loop = None
    if said["action"] != "merge":
        remedies = cast("list[dict[str, Any]]", report["remediation"])
        _send_back(foundry, view, remedies)
        next_loop = str(remedies[0]["loop"]) if remedies and remedies[0]["loop"] else None
    return CodeOutcome({"merge_decision": said}, message=said["action"], next_loop=next_loop)


def _send_back(foundry: Foundry, view: StepView, remedies: list[dict[str, Any]]) -> None:
    targets = list(_targets(foundry, view))
    open_ones = tuple(
        {
            "id": f"R{number}",
            "requested_by": "gatecheck",
            "target_step": str(each.get("target_step") or ""),
            "reason": str(each["fix"]),
            "severity": "must",
            "artifact": "",
        }
        for number, each in enumerate(remedies, start=1)
    )

    loops = foundry.registry.loops()

    def act(connection: Connection) -> None:
        for unit_id in targets:
            unit = foundry.units.load(connection, unit_id)
            if unit.status is UnitStatus.GATECHECK:
                unit = unit.moved(UnitStatus.STABILIZING)
            steps = {step.id for each in loops if each.id == unit.loop for step in each.steps}
            own = tuple(each for each in open_ones if each["target_step"] in steps)
            foundry.units.save(
                connection, replace(unit, revisions=own, ready_for_gate=False, gatecheck=view.unit)
            )

    view.scope.commit_with(act)


async def merge_to_cold(foundry: Foundry, view: StepView) -> CodeOutcome:
    """Make the new snapshot, with units, story hooks and follow-ups, in one transaction."""
    report = view.content("gatecheck_report")
    base = str(view.content("gate_intake")["base"])
    judged_hashes = _targets(foundry, view)

    def also(connection: Connection) -> None:
        if report["decision"] == "conditional_pass":
            _follow_up(foundry, connection, view.unit, report["findings"])
        tip = foundry.cold.load_tip(connection)
        if tip is not None:
            foundry.shelve_snapshot(connection, tip)
            own = foundry.units.load(connection, view.unit)
            foundry.units.save(connection, replace(own, snapshot=tip.id))

    try:
        made = await foundry.cold.merge(Merging(view.unit, base, judged_hashes), also)
    except BaseMoved as moved:
        return CodeOutcome(errors=(Misfit("cold_snapshot", moved.message),), message=moved.message)
    return CodeOutcome(
        {"cold_snapshot": made.body()},
        message=made.id,
        next_loop="binding_run",
        next_inputs=("cold_snapshot",),
    )


def _follow_up(
    foundry: Foundry, connection: Connection, unit: str, findings: list[dict[str, Any]]
) -> None:
    for row in findings[:20]:
        card = {
            "title": f"{row['bar']} is {row['status']} at {row['place']}"[:200],
            "kind": "accessibility" if row["bar"] == "accessibility" else "structure",
            "player_safe_summary": "A follow-up of a gatecheck.",
            "hot_details": f"{row['evidence']} Smallest fix: {row['smallest_fix']}",
            "bars_affected": [row["bar"]],
        }
        foundry.hooks.file(connection, card, raised_by="gatekeeper", tu_id=unit)

"""Reports of gates: bars computed by code over the book as it would be, a role's opinion on top.

What code calls red stays red; a role may only make a bar worse.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.loop import StepView
from callboard.core.canonical import Json
from callboard.library.story.contradiction import ConflictRules, read_rules
from callboard.packs.questfoundry.artifacts.catalog import normal_form
from callboard.packs.questfoundry.artifacts.gate import (
    BarStanding,
    FindingRow,
    GateReportBody,
    WaivedBar,
)
from callboard.packs.questfoundry.bars.canon import canon_findings
from callboard.packs.questfoundry.bars.checks import verdict_of
from callboard.packs.questfoundry.bars.judging import ALL_BARS, judge
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.verdict import (
    Bar,
    BarFinding,
    BarStatus,
    BarVerdict,
    GatecheckReport,
    GateMode,
    report_of,
    waived,
    worsened,
)
from callboard.packs.questfoundry.waivers import rows_of

Rows = list[dict[str, Any]]
MOST_TOLD: Final = 20
Flaws = Iterator[tuple[Bar, BarFinding]]
_SEVERE = (BarStatus.YELLOW, BarStatus.RED)


def rows_in(view: StepView, kind: str, field: str) -> Rows:
    """Return the rows of an artifact; none if there is no such artifact."""
    content = view.content(kind)
    return [] if content is None else cast("Rows", content.get(field, []))


def said_in(view: StepView, kind: str) -> dict[str, Any]:
    """Return what a role made, every default written out, for whoever has the last word on it."""
    return normal_form(kind, view.made[kind])


def flaw(
    bar: str,
    check: str,
    place: str,
    evidence: str,
    fix: str,
    owner: str,
    *,
    step: str = "",
    status: str = "red",
) -> tuple[Bar, BarFinding]:
    """Return something a step found that is no matter of the book alone."""
    found = BarFinding(check, BarStatus(status), place, evidence, fix, owner, "", step or "step_1")
    return Bar(bar), found


def judged(
    book: Book | None,
    bars: Sequence[str],
    mode: GateMode,
    extra: Iterable[tuple[Bar, BarFinding]] = (),
    *,
    surfaces: Mapping[str, bytes] | None = None,
    rebuilt: Mapping[str, bytes] | None = None,
    rules: ConflictRules | None = None,
) -> GatecheckReport:
    """Judge a book by some bars, with what a step found besides."""
    wanted = [Bar(each) for each in bars] or list(ALL_BARS)
    own: dict[Bar, list[BarFinding]] = {}
    for bar, found in extra:
        own.setdefault(bar, []).append(found)
    if book is None or not book.sections:
        for bar, found in () if book is None else canon_findings(book, rules or read_rules()):
            if bar in wanted:
                own.setdefault(bar, []).append(found)
        base = report_of([_unasked(bar, wanted) for bar in Bar], mode=mode)
    else:
        base = judge(book, bars=wanted, mode=mode, surfaces=surfaces, rebuilt=rebuilt, rules=rules)
    verdicts = [
        verdict_of(each.bar, [*each.findings, *own[each.bar]], each.evidence, each.facts)
        if each.bar in own
        else each
        for each in base.bars
    ]
    return report_of(verdicts, mode=mode, scope=base.scope)


def _unasked(bar: Bar, wanted: Sequence[Bar]) -> BarVerdict:
    if bar in wanted:
        return BarVerdict(bar, BarStatus.GREEN, "nothing that code looks for was found")
    return BarVerdict(bar, BarStatus.NA, "this gatecheck does not ask for it")


def opinions_in(rows: Iterable[Mapping[str, Any]]) -> list[BarVerdict]:
    """Return what a role thinks of bars."""
    return [
        BarVerdict(
            bar=Bar(row["bar"]),
            status=BarStatus(row["status"]),
            evidence=str(row.get("evidence") or "the gatekeeper's judgement"),
            source="llm",
            smallest_fix=str(row.get("smallest_fix") or ""),
            owner_role=str(row.get("owner_role") or ""),
            target_step=str(row.get("target_step") or "step_1"),
        )
        for row in rows
    ]


def with_opinions(report: GatecheckReport, rows: Iterable[Mapping[str, Any]]) -> GatecheckReport:
    """Return a report made worse by what a role thinks, where it thinks worse."""
    opinions = opinions_in(rows)
    whole = [each for each in opinions if each.status not in _SEVERE or _is_whole(each)]
    return worsened(report, whole)


def told_lines(body: Mapping[str, Any]) -> list[str]:
    """Say each bar of a stored report and, below it, each finding: where, what, the smallest fix.

    What nobody found by itself, such as a role's opinion, is told by its bar.
    """
    lines: list[str] = []
    for row in cast("Rows", body["bars"]):
        found = [
            each for each in cast("Rows", body.get("findings", [])) if each["bar"] == row["bar"]
        ]
        told = f"{len(found)} to look at" if found else str(row["evidence"])
        lines.append(f"{row['bar']}: {row['status']}, {told}")
        if not found and row.get("smallest_fix"):
            lines.append(f"  {row['smallest_fix']} ({row['owner_role']})")
        elif found and row.get("source", "code") != "code":
            lines.append(f"  {row['evidence']} {row['smallest_fix']} ({row['owner_role']})")
        lines += [
            f"  {each['status']} {each['place']}: {each['evidence']}. "
            f"{each['smallest_fix']} ({each['owner_role']})"
            for each in found[:MOST_TOLD]
        ]
        if len(found) > MOST_TOLD:
            lines.append(f"  and {len(found) - MOST_TOLD} more; --json has them all")
    for row in cast("Rows", body.get("waivers", [])):
        who = f"{row['by']}, until {row['expiry']}: {row['rationale']}"
        lines.append(f"  waived: {row['bar']} at {row['scope']} by {who}")
    return lines


def _is_whole(opinion: BarVerdict) -> bool:
    return bool(opinion.smallest_fix and opinion.owner_role)


def body_of(report: GatecheckReport, view: StepView | None = None) -> dict[str, Json]:
    """Return a report as an artifact."""
    checked: list[Json] = []
    if view is not None:
        checked = [
            {"artifact_id": each.id, "sha256": each.sha256, "tu_id": view.unit}
            for kind, each in view.artifacts.items()
            if kind in view.step.needs
        ]
    return {
        "mode": report.mode,
        "scope": report.scope,
        "checked": checked,
        "bars": bars_of(report),
        "findings": [
            {
                "check": found.check,
                "bar": each.bar.value,
                "status": found.status.value,
                "place": found.place,
                "evidence": found.evidence,
                "smallest_fix": found.smallest_fix,
                "owner_role": found.owner_role,
                "loop": found.loop,
                "target_step": found.target_step,
            }
            for each in report.bars
            for found in each.findings
        ],
        "waivers": cast("list[Json]", rows_of(report.waivers)),
        "decision": report.decision.value,
        "why": report.why,
        "remediation": [
            {
                "bar": each.bar.value,
                "fix": each.fix,
                "owner_role": each.owner_role,
                "target_step": each.target_step,
                "loop": each.loop,
            }
            for each in report.remediation
        ],
    }


def bars_of(report: GatecheckReport) -> list[Json]:
    """Return the bars of a report, each with the worst that was found."""
    return [
        {
            "bar": each.bar.value,
            "status": each.status.value,
            "evidence": each.evidence,
            "source": each.source,
            "smallest_fix": each.smallest_fix or None,
            "owner_role": each.owner_role or None,
            "target_step": each.target_step or None,
        }
        for each in report.bars
    ]


def report_in(content: Mapping[str, Any]) -> GatecheckReport:
    """Read a report that was stored, or bars and findings of which one is to be made."""
    body = GateReportBody.model_construct(
        bars=tuple(BarStanding.model_validate(row) for row in content.get("bars", ())),
        findings=tuple(FindingRow.model_validate(row) for row in content.get("findings", ())),
    )
    given = [WaivedBar.model_validate(row).given() for row in content.get("waivers", ())]
    made = report_of(body.verdicts(), mode=content.get("mode", "gatecheck"))
    return waived(made, given)

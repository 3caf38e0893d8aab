"""Feedback and gatechecks: what roles and code think of work, and what becomes of it."""

from datetime import date
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from callboard.packs.questfoundry.artifacts.shape import ArtifactBody, ArtifactPart
from callboard.packs.questfoundry.verdict import (
    Bar,
    BarFinding,
    BarStatus,
    BarVerdict,
    BarWaiver,
    decide,
)

BarName = Literal[
    "integrity",
    "reachability",
    "nonlinearity",
    "gateways",
    "style",
    "determinism",
    "presentation",
    "accessibility",
]


class FeedbackNote(ArtifactPart):
    """One remark on a place."""

    location: str
    tag: str
    suggestion: str
    severity: Literal["note", "minor", "major"] = "minor"
    quote: str = ""
    owner_role: str = ""
    canon_ref: str | None = None


class RoleFeedbackNotes(ArtifactBody):
    """What a role thinks of another's work; `revise` asks for it to be done again."""

    KIND: ClassVar = "style_feedback"
    ALSO: ClassVar = ("feasibility_notes", "spoiler_report", "pn_phrasing_feedback")

    scope: str = ""
    findings: tuple[FeedbackNote, ...] = ()
    verdict: Literal["ok", "revise"]


class LockedArtifact(ArtifactPart):
    """What was looked at, byte by byte."""

    artifact_id: str
    sha256: str
    tu_id: str = ""


class BarStanding(ArtifactPart):
    """One bar: its colour and why."""

    bar: BarName
    status: Literal["green", "yellow", "red", "na", "unknown"]
    evidence: str = ""
    source: Literal["code", "llm"] = "llm"
    smallest_fix: str | None = None
    owner_role: str | None = None
    target_step: str | None = None


class BarResults(ArtifactBody):
    """What the gatekeeper thinks of each bar; code has spoken before."""

    KIND: ClassVar = "bar_results"

    bars: tuple[BarStanding, ...] = ()


class RemedyItem(ArtifactPart):
    """The smallest change that would turn a bar green."""

    fix: str
    owner_role: str
    bar: BarName | None = None
    target_step: str = ""
    loop: str = ""
    due: str | None = None


class WaivedBar(ArtifactPart):
    """A red finding that a human lets pass, for a while."""

    bar: BarName
    rationale: str
    scope: str
    expiry: date
    by: str = ""
    check: str = ""
    waiver_id: str = ""

    def given(self) -> BarWaiver:
        """Return it as the verdict takes it."""
        return BarWaiver(
            Bar(self.bar),
            self.rationale,
            self.scope,
            self.expiry,
            self.by,
            self.check,
            self.waiver_id,
        )


class FindingRow(ArtifactPart):
    """One fault that code found: where it is, what shows it, and whose it is."""

    check: str
    bar: BarName
    status: Literal["green", "yellow", "red", "na", "unknown"]
    place: str
    evidence: str = ""
    smallest_fix: str = ""
    owner_role: str = ""
    loop: str = ""
    target_step: str = ""

    def found(self) -> BarFinding:
        """Return it as the verdict takes it."""
        return BarFinding(
            self.check,
            BarStatus(self.status),
            self.place,
            self.evidence,
            self.smallest_fix,
            self.owner_role,
            self.loop,
            self.target_step,
        )


class GateReportBody(ArtifactBody):
    """The verdict on a piece of work; the decision follows from the bars."""

    KIND: ClassVar = "gatecheck_report"

    mode: Literal["pre_gate", "gatecheck", "spot_check"]
    scope: str = ""
    checked: tuple[LockedArtifact, ...] = ()
    bars: tuple[BarStanding, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    decision: Literal["pass", "conditional_pass", "block"]
    why: str = ""
    remediation: tuple[RemedyItem, ...] = ()
    waivers: tuple[WaivedBar, ...] = ()
    snapshot: str | None = None

    @model_validator(mode="after")
    def _follows_from_the_bars(self) -> "GateReportBody":
        for each in self.bars:
            is_blemish = each.status in ("yellow", "red")
            if is_blemish and not (each.evidence and each.smallest_fix and each.owner_role):
                raise ValueError(
                    f"{each.bar} is {each.status}: it needs evidence, smallest_fix and owner_role"
                )
        derived = decide(self.verdicts(), [each.given() for each in self.waivers]).value
        if self.decision != derived:
            raise ValueError(f"decision is {self.decision}, and the bars make it {derived}")
        return self

    def verdicts(self) -> list[BarVerdict]:
        """Return the bars as the verdict takes them, each with its findings."""
        return [
            BarVerdict(
                Bar(each.bar),
                BarStatus(each.status),
                each.evidence or "as stored",
                each.source,
                each.smallest_fix or "",
                each.owner_role or "",
                each.target_step or "",
                tuple(row.found() for row in self.findings if row.bar == each.bar),
            )
            for each in self.bars
        ]


class GateIntake(ArtifactBody):
    """What a gatecheck is about, locked by its hashes."""

    KIND: ClassVar = "gate_intake"

    targets: tuple[LockedArtifact, ...] = ()
    base: str = ""


class BarFact(ArtifactPart):
    """Something code found out about a bar."""

    bar: BarName
    check: str
    result: Literal["green", "yellow", "red", "na", "unknown"]
    locations: tuple[str, ...] = ()
    told: str = ""
    smallest_fix: str = ""
    owner_role: str = ""
    target_step: str = ""
    loop: str = ""


class BarEvidence(ArtifactBody):
    """What code found out, before anybody judges."""

    KIND: ClassVar = "bar_evidence"

    facts: tuple[BarFact, ...] = ()


class RemediationPlan(ArtifactBody):
    """Who mends what, and in which loop."""

    KIND: ClassVar = "remediation_plan"

    items: tuple[RemedyItem, ...] = ()


class MergeDecision(ArtifactBody):
    """Whether the work becomes part of the book."""

    KIND: ClassVar = "merge_decision"

    action: Literal["merge", "hold", "rework"]
    reason: str = ""
    followups: tuple[str, ...] = ()


class SnapshotFile(ArtifactPart):
    """An artifact in a snapshot."""

    path: str
    sha256: str
    size: int = Field(ge=0)
    player_safe: bool = True


class ColdSnapshot(ArtifactBody):
    """The gated book at one moment; it never changes."""

    KIND: ClassVar = "cold_snapshot"

    snapshot_id: str
    parent: str | None = None
    files: tuple[SnapshotFile, ...] = ()
    tus: tuple[str, ...] = ()

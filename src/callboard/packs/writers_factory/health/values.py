"""The values of the health service: what a check found, what a report holds, how both are stored.

Holds no rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from callboard.core.canonical import Json, digest
from callboard.packs.writers_factory.model import Evidence, Finding, Severity


class CheckId(StrEnum):
    """The seven checks, in the order in which they are reported."""

    PACING = "A1_pacing_plateau"
    BEATS = "A2_beat_progress"
    TIMELINE = "A3_timeline_consistency"
    FLAW = "B1_flaw_challenge"
    CAST = "B2_cast_function"
    SYMBOLS = "C1_symbolic_layering"
    THEME = "C2_theme_resonance"


class CheckStatus(StrEnum):
    """How a check came out."""

    PASSED = "pass"
    WARN = "warn"
    FAIL = "fail"
    INSUFFICIENT_DATA = "insufficient_data"
    SKIPPED = "skipped"


class ChallengeType(StrEnum):
    """What a scene does to the flaw."""

    TEST = "test"
    FAILURE = "failure"
    GROWTH = "growth"
    TRIUMPH = "triumph"


class CastFunction(StrEnum):
    """What a supporting character is for."""

    ANTAGONIST = "antagonist"
    MENTOR = "mentor"
    ALLY = "ally"
    LOVE_INTEREST = "love_interest"
    FOIL = "foil"
    THRESHOLD_GUARDIAN = "threshold_guardian"
    TRICKSTER = "trickster"
    HERALD = "herald"
    VICTIM = "victim"
    OTHER = "other"


class SymbolStage(StrEnum):
    """What a symbol does in a scene."""

    INTRODUCTION = "introduction"
    DEVELOPMENT = "development"
    TRANSFORMATION = "transformation"


SEVERITY_RANK: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    check_id: str
    status: CheckStatus
    score: float | None = None
    findings: tuple[Finding, ...] = ()
    # What is missing, where there is not enough to judge by.
    note: str = ""
    # Whether the part that needs a model could not be done.
    is_partial: bool = False
    # The figures behind the findings, in JSON.
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "check_id": self.check_id,
            "status": self.status.value,
            "score": self.score,
            "findings": [finding_to_json(each) for each in self.findings],
            "note": self.note,
            "partial": self.is_partial,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "CheckResult":
        """Read the stored shape."""
        return cls(
            check_id=data["check_id"],
            status=CheckStatus(data["status"]),
            score=data["score"],
            findings=tuple(finding_from_json(each) for each in data["findings"]),
            note=data["note"],
            is_partial=data["partial"],
            details=data["details"],
        )


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The seven checks over one scope at one time."""

    id: str
    project_id: str
    scope: str
    created_at: int
    overall_score: float | None
    checks: tuple[CheckResult, ...]
    stats: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def without_data(self) -> tuple[str, ...]:
        """The checks that had not enough to judge by."""
        return tuple(
            each.check_id for each in self.checks if each.status is CheckStatus.INSUFFICIENT_DATA
        )

    def check(self, check_id: str) -> CheckResult:
        """Return the result of one check."""
        return next(each for each in self.checks if each.check_id == check_id)

    @property
    def summary(self) -> str:
        """The score and the findings, the worst first, one line each."""
        found = [each for check in self.checks for each in check.findings]
        found.sort(key=lambda each: SEVERITY_RANK[each.severity])
        score = "no score" if self.overall_score is None else f"{self.overall_score:.0f} of 100"
        told = [f"Health of {self.scope}: {score}, {len(found)} findings."]
        told += [f"{each.severity.value} {each.check_id}: {each.title}" for each in found]
        return "\n".join(told)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "id": self.id,
            "project_id": self.project_id,
            "scope": self.scope,
            "created_at": self.created_at,
            "overall_score": self.overall_score,
            "without_data": list(self.without_data),
            "checks": [each.to_json() for each in self.checks],
            "stats": dict(self.stats),
            "summary": self.summary,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "HealthReport":
        """Read the stored shape."""
        return cls(
            id=data["id"],
            project_id=data["project_id"],
            scope=data["scope"],
            created_at=data["created_at"],
            overall_score=data["overall_score"],
            checks=tuple(CheckResult.from_json(each) for each in data["checks"]),
            stats=data["stats"],
        )


@dataclass(frozen=True, slots=True)
class FlawChallenge:
    """A scene that puts the protagonist's flaw to the test."""

    scene_id: str
    flaw: str
    type: ChallengeType
    intensity: int
    quote: str = ""
    detected_by: str = "writer"

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "flaw": self.flaw,
            "type": self.type.value,
            "intensity": self.intensity,
            "quote": self.quote,
            "detected_by": self.detected_by,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "FlawChallenge":
        """Read the stored shape."""
        return cls(
            scene_id=data["scene_id"],
            flaw=data["flaw"],
            type=ChallengeType(data["type"]),
            intensity=int(data["intensity"]),
            quote=data["quote"],
            detected_by=data["detected_by"],
        )


@dataclass(frozen=True, slots=True)
class ThemeOverride:
    """The writer's own score for a scene, or for all scenes of a beat."""

    target: str
    score: float
    reason: str
    author: str = "writer"
    created_at: int = 0
    # The text it was given for; another text makes it stale.
    content_hash: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "target": self.target,
            "score": self.score,
            "reason": self.reason,
            "author": self.author,
            "ts": self.created_at,
            "content_hash": self.content_hash,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ThemeOverride":
        """Read the stored shape."""
        return cls(
            target=data["target"],
            score=float(data["score"]),
            reason=data["reason"],
            author=data["author"],
            created_at=data["ts"],
            content_hash=data["content_hash"],
        )


@dataclass(frozen=True, slots=True)
class Alert:
    """An open finding as the Foreman is told of it."""

    severity: Severity
    check: str
    finding: str
    recommendation: str
    finding_id: str = ""


def finding_id(finding: Finding) -> str:
    """Return what a finding is known by from run to run, however bad it has become."""
    told: list[Json] = [finding.check_id, finding.rule, *finding.entities]
    return f"find_{digest(told)[:16]}"


def finding_to_json(finding: Finding) -> dict[str, Json]:
    """Return the stored shape of a finding."""
    return {
        "id": finding_id(finding),
        "check_id": finding.check_id,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "title": finding.title,
        "recommendation": finding.recommendation,
        "evidence": [{"scene_id": e.scene_id, "quote": e.quote} for e in finding.evidence],
        "entities": list(finding.entities),
        "scene_ids": list(finding.scene_ids),
        "is_judged": finding.is_judged,
    }


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """Read the stored shape of a finding."""
    return Finding(
        check_id=data["check_id"],
        severity=Severity(data["severity"]),
        title=data["title"],
        recommendation=data["recommendation"],
        evidence=tuple(Evidence(each["scene_id"], each["quote"]) for each in data["evidence"]),
        entities=tuple(data["entities"]),
        rule=data["rule"],
        scene_ids=tuple(data["scene_ids"]),
        is_judged=bool(data["is_judged"]),
    )

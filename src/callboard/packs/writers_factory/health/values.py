"""The values of the health service: what a check found, what a report holds, how both are stored.

Holds no rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final

from callboard.core.canonical import Json, digest
from callboard.core.codec import Coded, decode, encode
from callboard.packs.writers_factory.model import Finding, Severity


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
class HealthCheckResult(Coded):
    """What one check found."""

    KEYS: ClassVar = {"is_partial": "partial"}

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
            **Coded.to_json(self),
            "findings": [finding_to_json(each) for each in self.findings],
        }


@dataclass(frozen=True, slots=True)
class HealthReport(Coded):
    """The seven checks over one scope at one time."""

    id: str
    project_id: str
    scope: str
    created_at: int
    overall_score: float | None
    checks: tuple[HealthCheckResult, ...]
    stats: Mapping[str, Json] = field(default_factory=dict[str, Json])

    @property
    def without_data(self) -> tuple[str, ...]:
        """The checks that had not enough to judge by."""
        return tuple(
            each.check_id for each in self.checks if each.status is CheckStatus.INSUFFICIENT_DATA
        )

    def check(self, check_id: str) -> HealthCheckResult:
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
            **encode(self),
            "without_data": list(self.without_data),
            "checks": [each.to_json() for each in self.checks],
            "summary": self.summary,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "HealthReport":
        """Read the stored shape."""
        checks = [HealthCheckResult.from_json(each) for each in data["checks"]]
        return decode(cls, {**data, "checks": checks})


@dataclass(frozen=True, slots=True)
class FlawChallenge(Coded):
    """A scene that puts the protagonist's flaw to the test."""

    scene_id: str
    flaw: str
    type: ChallengeType
    intensity: int
    quote: str = ""
    detected_by: str = "writer"


@dataclass(frozen=True, slots=True)
class ThemeOverride(Coded):
    """The writer's own score for a scene, or for all scenes of a beat."""

    KEYS: ClassVar = {"created_at": "ts"}

    target: str
    score: float
    reason: str
    author: str = "writer"
    created_at: int = 0
    # The text it was given for; another text makes it stale.
    content_hash: str = ""


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
    return {"id": finding_id(finding), **encode(finding)}


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """Read the stored shape of a finding."""
    return decode(Finding, data)

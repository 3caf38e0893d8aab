"""Scoring: what findings take off a check, and what the checks make together."""

from collections.abc import Iterable, Mapping, Sequence

from callboard.core.canonical import Json
from callboard.packs.writers_factory.health.values import (
    SEVERITY_RANK,
    CheckId,
    CheckResult,
    CheckStatus,
)
from callboard.packs.writers_factory.model import Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings


def score_of(findings: Iterable[Finding], settings: HealthSettings) -> float:
    """Return what is left of a hundred points."""
    points = {
        Severity.ERROR: settings.score_error,
        Severity.WARNING: settings.score_warning,
        Severity.INFO: settings.score_info,
    }
    return max(0.0, 100.0 - sum(points[finding.severity] for finding in findings))


def overall_of(results: Iterable[CheckResult]) -> float | None:
    """Return the mean of the checks that had data; None if none had."""
    scores = [each.score for each in results if each.score is not None]
    return round(sum(scores) / len(scores), 2) if scores else None


def judged(
    check: CheckId,
    findings: Sequence[Finding],
    settings: HealthSettings,
    *,
    details: Mapping[str, Json] | None = None,
    is_partial: bool = False,
) -> CheckResult:
    """Return the result of a check that had enough to judge by, worst finding first."""
    ranked = sorted(findings, key=lambda finding: SEVERITY_RANK[finding.severity])
    return CheckResult(
        check_id=check.value,
        status=_status(ranked),
        score=score_of(ranked, settings),
        findings=tuple(ranked),
        is_partial=is_partial,
        details=details or {},
    )


def without_data(check: CheckId, note: str, *, is_partial: bool = False) -> CheckResult:
    """Return the result of a check that had not enough to judge by; it is never a pass."""
    return CheckResult(check.value, CheckStatus.INSUFFICIENT_DATA, note=note, is_partial=is_partial)


def _status(findings: Sequence[Finding]) -> CheckStatus:
    found = {finding.severity for finding in findings}
    if Severity.ERROR in found:
        return CheckStatus.FAIL
    # A remark costs points, but it is no reason to worry.
    return CheckStatus.WARN if Severity.WARNING in found else CheckStatus.PASSED

"""Examination: a view, a scope and thresholds, as every check is handed them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.shapes import BeatPoint
from callboard.packs.writers_factory.health.values import (
    SEVERITY_RANK,
    CheckId,
    CheckStatus,
    HealthCheckResult,
)
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Evidence, Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings

GRAMMAR: Final = "manuscript | act:1|2a|2b|3 | chapter:N | scene:ID (such as scene:ch4-sc2)"
_NOT_JUDGED: Final = "the rules find nothing; the rest was judged by nobody"
_SCOPE: Final = re.compile(
    r"(?P<whole>manuscript)|act:(?P<act>1|2a|2b|3)|chapter:(?P<chapter>[1-9]\d{0,5})"
    r"|scene:(?P<scene>ch[1-9]\d*-sc[1-9]\d*)",
    re.IGNORECASE | re.ASCII,
)


class BadScope(InvalidInput):
    """A scope or a check was named that does not exist."""

    code = "bad_scope"


@dataclass(frozen=True, slots=True)
class HealthScope:
    """A part of the manuscript; without a part, all of it."""

    act: str | None = None
    chapter: int | None = None
    scene_id: str | None = None

    def __str__(self) -> str:
        """Return the scope as it is written."""
        if self.act is not None:
            return f"act:{self.act}"
        if self.chapter is not None:
            return f"chapter:{self.chapter}"
        return f"scene:{self.scene_id}" if self.scene_id is not None else "manuscript"

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.act is None and self.chapter is None and self.scene_id is None

    def scenes(self, view: ManuscriptView) -> tuple[SceneView, ...]:
        """Return the scenes it holds."""
        return tuple(scene for scene in view.scenes if self.has(view, scene))

    def has(self, view: ManuscriptView, scene: SceneView) -> bool:
        """Say whether a scene is in it."""
        if self.act is not None:
            return view.act_of(scene) == self.act
        if self.chapter is not None:
            return scene.chapter == self.chapter
        return self.scene_id is None or scene.scene_id == self.scene_id

    def has_beat(self, beat: BeatPoint) -> bool:
        """Say whether a beat that nobody has written yet belongs to it."""
        return self.is_whole or beat.act == self.act

    def concerns(self, finding: Finding, inside: frozenset[str]) -> bool:
        """Say whether a finding belongs to it; `inside` are the ids of its scenes."""
        return self.is_whole or not inside.isdisjoint(finding.scene_ids)


def parse_scope(text: str) -> HealthScope:
    """Read a scope; nothing means the whole manuscript."""
    wanted = text.strip()
    if not wanted:
        return HealthScope()
    found = _SCOPE.fullmatch(wanted)
    if found is None:
        raise BadScope(
            f"{text!r} is no scope of a health check", fix=f"Write {GRAMMAR}.", scope=text
        )
    chapter = found["chapter"]
    return HealthScope(
        act=found["act"].lower() if found["act"] else None,
        chapter=int(chapter) if chapter else None,
        scene_id=found["scene"].lower() if found["scene"] else None,
    )


def parse_checks(names: Sequence[str]) -> tuple[CheckId, ...]:
    """Return the checks meant by ids or their first two signs; none named means all."""
    wanted: set[CheckId] = set()
    for name in names:
        key = name.strip().casefold()
        found = [c for c in CheckId if key in (c.value.casefold(), c.value[:2].casefold())]
        if not found:
            known = ", ".join(check.value for check in CheckId)
            raise BadScope(f"{name!r} is no health check", fix=f"There are {known}.", check=name)
        wanted.update(found)
    return tuple(check for check in CheckId if not wanted or check in wanted)


def score_of(findings: Iterable[Finding], settings: HealthSettings) -> float:
    """Return what is left of a hundred points."""
    points = {
        Severity.ERROR: settings.score_error,
        Severity.WARNING: settings.score_warning,
        Severity.INFO: settings.score_info,
    }
    return max(0.0, 100.0 - sum(points[finding.severity] for finding in findings))


def overall_of(results: Iterable[HealthCheckResult]) -> float | None:
    """Return the mean of the checks that had data; None if none had, or one was not judged."""
    looked = list(results)
    scores = [each.score for each in looked if each.score is not None]
    if not scores or any(each.is_partial for each in looked):
        return None
    return round(sum(scores) / len(scores), 2)


def judged(
    check: CheckId,
    findings: Sequence[Finding],
    settings: HealthSettings,
    *,
    details: Mapping[str, Json] | None = None,
    is_partial: bool = False,
) -> HealthCheckResult:
    """Return the result of a check that had enough to judge by, worst finding first.

    What no judge could look at is not passed, and has no score: rules that find nothing have not
    seen everything.
    """
    ranked = sorted(findings, key=lambda finding: SEVERITY_RANK[finding.severity])
    status = _status(ranked)
    is_open = is_partial and status is CheckStatus.PASSED
    return HealthCheckResult(
        check_id=check.value,
        status=CheckStatus.INSUFFICIENT_DATA if is_open else status,
        score=None if is_partial else score_of(ranked, settings),
        note=_NOT_JUDGED if is_open else "",
        findings=tuple(ranked),
        is_partial=is_partial,
        details=details or {},
    )


def without_data(check: CheckId, note: str, *, is_partial: bool = False) -> HealthCheckResult:
    """Return the result of a check that had not enough to judge by; it is never a pass."""
    return HealthCheckResult(
        check.value, CheckStatus.INSUFFICIENT_DATA, note=note, is_partial=is_partial
    )


def _status(findings: Sequence[Finding]) -> CheckStatus:
    found = {finding.severity for finding in findings}
    if Severity.ERROR in found:
        return CheckStatus.FAIL
    # A remark costs points, but it is no reason to worry.
    return CheckStatus.WARN if Severity.WARNING in found else CheckStatus.PASSED


@dataclass(frozen=True)
class Examination:
    """What is examined. Rules see the whole manuscript; findings outside the scope are left out."""

    view: ManuscriptView
    settings: HealthSettings
    scope: HealthScope = field(default_factory=HealthScope)

    @cached_property
    def scenes(self) -> tuple[SceneView, ...]:
        """The accepted scenes of the scope."""
        return self.scope.scenes(self.view)

    @cached_property
    def inside(self) -> frozenset[str]:
        """The ids of those scenes."""
        return frozenset(scene.scene_id for scene in self.scenes)

    def result(
        self,
        check: CheckId,
        findings: Iterable[Finding],
        details: Mapping[str, Json] | None = None,
        *,
        is_partial: bool = False,
    ) -> HealthCheckResult:
        """Return what a check found within the scope."""
        concerned = [each for each in findings if self.scope.concerns(each, self.inside)]
        return judged(check, concerned, self.settings, details=details, is_partial=is_partial)

    def no_data(self, check: CheckId, note: str, *, is_partial: bool = False) -> HealthCheckResult:
        """Return that a check had not enough to judge by, and what is missing."""
        return without_data(check, note, is_partial=is_partial)


def finding_of(
    check: CheckId,
    severity: Severity,
    rule: str,
    title: str,
    recommendation: str,
    entities: tuple[str, ...],
    scene_ids: tuple[str, ...],
    evidence: tuple[Evidence, ...] = (),
) -> Finding:
    """Return what a rule of a check found."""
    return Finding(
        check_id=check.value,
        severity=severity,
        title=title,
        recommendation=recommendation,
        evidence=evidence,
        entities=entities,
        rule=rule,
        scene_ids=scene_ids,
    )

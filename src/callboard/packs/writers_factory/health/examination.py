"""Examination: a view, a scope and thresholds, as every check is handed them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from callboard.core.canonical import Json
from callboard.packs.writers_factory.health.scope import Scope
from callboard.packs.writers_factory.health.scoring import judged, without_data
from callboard.packs.writers_factory.health.values import CheckId, CheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Finding
from callboard.packs.writers_factory.settings import HealthSettings


@dataclass(frozen=True)
class Examination:
    """What is examined. Rules see the whole manuscript; findings outside the scope are left out."""

    view: ManuscriptView
    settings: HealthSettings
    scope: Scope = field(default_factory=Scope)

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
    ) -> CheckResult:
        """Return what a check found within the scope."""
        concerned = [each for each in findings if self.scope.concerns(each, self.inside)]
        return judged(check, concerned, self.settings, details=details, is_partial=is_partial)

    def no_data(self, check: CheckId, note: str, *, is_partial: bool = False) -> CheckResult:
        """Return that a check had not enough to judge by, and what is missing."""
        return without_data(check, note, is_partial=is_partial)

"""Health: seven structural checks over the manuscript, with alerts and overrides."""

from callboard.packs.writers_factory.health.autorun import start_after_chapter
from callboard.packs.writers_factory.health.checkup import Checkup, judge_scene
from callboard.packs.writers_factory.health.ledger import KnownFinding
from callboard.packs.writers_factory.health.records import SceneJudgement
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.scope import (
    GRAMMAR,
    BadScope,
    Scope,
    parse_checks,
    parse_scope,
)
from callboard.packs.writers_factory.health.values import (
    Alert,
    CastFunction,
    ChallengeType,
    CheckId,
    CheckResult,
    CheckStatus,
    FlawChallenge,
    HealthReport,
    SymbolStage,
    ThemeOverride,
)
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView

__all__ = [
    "GRAMMAR",
    "Alert",
    "BadScope",
    "CastFunction",
    "ChallengeType",
    "CheckId",
    "CheckResult",
    "CheckStatus",
    "Checkup",
    "FlawChallenge",
    "Health",
    "HealthReport",
    "KnownFinding",
    "ManuscriptView",
    "SceneJudgement",
    "SceneView",
    "Scope",
    "SymbolStage",
    "ThemeOverride",
    "judge_scene",
    "parse_checks",
    "parse_scope",
    "start_after_chapter",
]

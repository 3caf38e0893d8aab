"""Health: seven structural checks over the manuscript, with alerts and overrides."""

from callboard.packs.writers_factory.health.checkup import judge_scene
from callboard.packs.writers_factory.health.records import KnownFinding, SceneJudgement
from callboard.packs.writers_factory.health.room import Health
from callboard.packs.writers_factory.health.runs import start_after_chapter
from callboard.packs.writers_factory.health.values import ChallengeType, FlawChallenge, HealthReport

__all__ = [
    "ChallengeType",
    "FlawChallenge",
    "Health",
    "HealthReport",
    "KnownFinding",
    "SceneJudgement",
    "judge_scene",
    "start_after_chapter",
]

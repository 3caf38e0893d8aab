"""The brief of a scene: everything an analysis measures it by, gathered once, as plain values.

It goes into the journal of a run, so that a run that is resumed measures by what it began with.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from callboard.core.canonical import Json, plain
from callboard.packs.writers_factory.prose import (
    Pattern,
    PatternSeverity,
    PatternSheet,
    Stylometrics,
    measure,
)
from callboard.packs.writers_factory.revision.analysis.forbidden import Correction, ForbiddenFact
from callboard.packs.writers_factory.revision.analysis.threads import Thread


@dataclass(frozen=True, slots=True)
class JudgeGround:
    """What a judge is told beside the scene itself."""

    voice: str = ""
    gold_excerpt: str = ""
    evolution: str = ""
    beat: str = ""
    goal: str = ""
    characters: str = ""
    world_rules: str = ""
    corrections: str = ""
    threads: str = ""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A zero-tolerance hit the writer wants as it is."""

    pattern: str
    quote: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SceneBrief:
    """What one scene is measured by."""

    scene_id: str
    patterns: PatternSheet
    chapter: int | None = None
    pov: str | None = None
    gold_text: str = ""
    threads: tuple[Thread, ...] = ()
    forbidden: tuple[ForbiddenFact, ...] = ()
    judge: JudgeGround = JudgeGround()

    @property
    def gold(self) -> Stylometrics | None:
        """How the gold standard measures, if there is one."""
        return _measured(self.gold_text) if self.gold_text.strip() else None

    def to_json(self) -> dict[str, Json]:
        """Return the journaled shape."""
        shape: dict[str, Json] = plain(asdict(self))
        return {**shape, "patterns": [plain(asdict(each)) for each in self.patterns.patterns]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SceneBrief":
        """Read the journaled shape."""
        return cls(
            scene_id=data["scene_id"],
            patterns=PatternSheet(tuple(_pattern(each) for each in data["patterns"])),
            chapter=data["chapter"],
            pov=data["pov"],
            gold_text=data["gold_text"],
            threads=tuple(
                Thread(each["name"], tuple(each["aliases"]), each["is_foreshadowing"])
                for each in data["threads"]
            ),
            forbidden=tuple(_fact(each) for each in data["forbidden"]),
            judge=JudgeGround(**data["judge"]),
        )


@lru_cache(maxsize=64)
def _measured(text: str) -> Stylometrics:
    return measure(text)


def _pattern(data: dict[str, Any]) -> Pattern:
    shape: dict[str, Any] = {**data, "severity": PatternSeverity(data["severity"])}
    return Pattern(**shape)


def _fact(data: dict[str, Any]) -> ForbiddenFact:
    shape: dict[str, Any] = {**data, "correction": Correction(**data["correction"])}
    return ForbiddenFact(**shape)

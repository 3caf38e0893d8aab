"""What a report on the whole manuscript holds: items with a quote, a scene and a proposed fix.

Contradictions between scenes are found by the story tools: facts, people and time.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from callboard.core.canonical import Json
from callboard.library.story.model import StoryFinding
from callboard.packs.writers_factory.health.timeline.continuity import SEVERITIES
from callboard.packs.writers_factory.health.timeline.continuity import (
    find_contradictions as contradictions_of,
)
from callboard.packs.writers_factory.model import Severity
from callboard.studio.studio import Studio


class AuditKind(StrEnum):
    """What kind of continuity an item is about."""

    TIMELINE = "timeline"
    UNPAID = "unpaid_callback"
    UNPLANTED = "unplanted_payoff"
    CORRECTION = "correction"
    WORLD_RULE = "world_rule"
    CONFLICT = "graph_conflict"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One thing that does not hold together; chapter 0 means the book as a whole."""

    kind: AuditKind
    severity: Severity
    chapter: int
    scene_id: str
    problem: str
    fix: str
    quotes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "quotes": list(self.quotes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "AuditItem":
        """Read the stored shape."""
        return cls(
            AuditKind(data["kind"]),
            Severity(data["severity"]),
            int(data["chapter"]),
            str(data["scene_id"]),
            str(data["problem"]),
            str(data["fix"]),
            tuple(data["quotes"]),
        )


def find_contradictions(
    studio: Studio, scenes: Sequence[tuple[str, str, int]]
) -> tuple[AuditItem, ...]:
    """Return where scene files contradict each other; a scene is its path, id and chapter."""
    if not scenes:
        return ()
    return items_of(contradictions_of(studio, [path for path, _, _ in scenes]), scenes)


def items_of(
    findings: Sequence[StoryFinding], scenes: Sequence[tuple[str, str, int]]
) -> tuple[AuditItem, ...]:
    """Return findings as items; a scene is its path, id and chapter."""
    known = {path: (name, chapter) for path, name, chapter in scenes}
    return tuple(_item(each, known) for each in findings)


def _item(finding: StoryFinding, known: dict[str, tuple[str, int]]) -> AuditItem:
    scene, chapter = known.get(finding.quotes[-1].path, ("", 0)) if finding.quotes else ("", 0)
    quotes = tuple(f"{known.get(q.path, (q.path, 0))[0]}: {q.text}" for q in finding.quotes)
    return AuditItem(
        AuditKind.CONTRADICTION,
        SEVERITIES[finding.severity],
        chapter,
        scene,
        finding.message,
        finding.suggestion or "Change one of the two places.",
        quotes,
    )

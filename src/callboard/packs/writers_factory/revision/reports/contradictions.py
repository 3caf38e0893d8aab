"""Contradictions between scenes that the story tools find: facts, people and time."""

from collections.abc import Sequence

from callboard.library.story.model import StoryFinding
from callboard.packs.writers_factory.health.timeline.continuity import SEVERITIES
from callboard.packs.writers_factory.health.timeline.continuity import (
    find_contradictions as contradictions_of,
)
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind
from callboard.studio.studio import Studio


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

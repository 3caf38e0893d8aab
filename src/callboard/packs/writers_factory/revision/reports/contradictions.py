"""Contradictions between scenes that the story tools find: facts, people and time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from callboard.library.story.index import story_index
from callboard.library.story.model import Severity as Weight
from callboard.library.story.model import StoryFinding
from callboard.library.story.thresholds import thresholds
from callboard.library.story.tools.consistency.tool import ConsistencyCheck
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind
from callboard.studio.studio import Studio

_SEVERITIES: Final = {
    Weight.MAJOR: Severity.ERROR,
    Weight.MINOR: Severity.WARNING,
    Weight.INFO: Severity.INFO,
}
_LEAST_CONFIDENCE: Final = 0.5


def find_contradictions(
    studio: Studio, scenes: Sequence[tuple[str, str, int]]
) -> tuple[AuditItem, ...]:
    """Return where scene files contradict each other; a scene is its path, id and chapter."""
    if not scenes:
        return ()
    context = studio.tools.context("")
    index, known = story_index(context), {path: (name, ch) for path, name, ch in scenes}
    check = ConsistencyCheck(index, thresholds(context), list(known))
    # Scenes are numbered anew in every chapter here; the order of the book is the one given.
    order = {path: place for place, path in enumerate(known)}
    check.scenes = sorted(
        (replace(scene, place=order[scene.file.path]) for scene in check.scenes),
        key=lambda scene: scene.place,
    )
    found = [*check.findings("characters"), *check.findings("events")]
    unique = {finding.id: finding for finding in found}
    return tuple(
        _item(each, known) for each in unique.values() if each.confidence >= _LEAST_CONFIDENCE
    )


def _item(finding: StoryFinding, known: dict[str, tuple[str, int]]) -> AuditItem:
    scene, chapter = known.get(finding.quotes[-1].path, ("", 0)) if finding.quotes else ("", 0)
    quotes = tuple(f"{known.get(q.path, (q.path, 0))[0]}: {q.text}" for q in finding.quotes)
    return AuditItem(
        AuditKind.CONTRADICTION,
        _SEVERITIES[finding.severity],
        chapter,
        scene,
        finding.message,
        finding.suggestion or "Change one of the two places.",
        quotes,
    )

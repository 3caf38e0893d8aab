"""Revision: what a writer does with written scenes, from the first score to the finished book.

What asks a model or takes long is a run; everything here answers at once.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.manuscript import (
    WRITTEN,
    BookScene,
    Manuscript,
    TextUnproven,
    body_as_kept,
)
from callboard.packs.writers_factory.model import SceneStatus, Severity
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief, Waiver
from callboard.packs.writers_factory.revision.analysis.findings import Issue, SceneAnalysis
from callboard.packs.writers_factory.revision.analysis.scoring import score_scene
from callboard.packs.writers_factory.revision.completion import (
    Completion,
    read_completion,
    reopen_book,
)
from callboard.packs.writers_factory.revision.editing.edits import ChangedSince, Edits
from callboard.packs.writers_factory.revision.editing.proposals import Proposals
from callboard.packs.writers_factory.revision.enhancement import proposal as kept
from callboard.packs.writers_factory.revision.enhancement.proposal import (
    Enhancement,
    accepted_text,
    decide,
)
from callboard.packs.writers_factory.revision.facts import (
    RevisionSources,
    StoryFacts,
    gather_story,
    open_rooms,
)
from callboard.packs.writers_factory.workspace import Workspace

ANALYSIS_KIND: Final = "analysis"
WAIVER_KIND: Final = "waiver"
# From here on a scene goes to `enhanced`; before that it has no text of its own to enhance.
_ENHANCEABLE: Final = (SceneStatus.SELECTED, SceneStatus.ANALYZED, SceneStatus.ENHANCED)


class Revision:
    """The revision of one project."""

    def __init__(self, workspace: Workspace, rooms: RevisionSources | None = None) -> None:
        """Take the project; the rooms it reads from are opened unless they are given."""
        self._workspace = workspace
        self._given_rooms = rooms

    @cached_property
    def rooms(self) -> RevisionSources:
        """The rooms it reads from."""
        return self._given_rooms or open_rooms(self._workspace)

    @property
    def manuscript(self) -> Manuscript:
        """The scenes."""
        return self.rooms.manuscript

    def story(self) -> StoryFacts:
        """Return what scenes are measured by, as it is now."""
        return gather_story(self.rooms)

    def brief(self, scene_id: str) -> SceneBrief:
        """Return what one scene is measured by."""
        return self.story().brief_of(self.manuscript.scene(scene_id))

    def texts(self) -> tuple[BookScene, ...]:
        """Return every scene with its text, in outline order."""
        return self.manuscript.texts()

    # Analysis

    def analyze_fast(self, scene_id: str, text: str | None = None) -> SceneAnalysis:
        """Score a scene, or a text for it, without asking a model."""
        return self.scoring(scene_id, text)()

    def scoring(self, scene_id: str, text: str | None = None) -> Callable[[], SceneAnalysis]:
        """Return what scores a scene, with all it reads at hand: it may be called in a thread."""
        shown = self.manuscript.text(scene_id) if text is None else text
        settings = self._workspace.settings.analysis
        return partial(score_scene, shown, self.brief(scene_id), None, settings, is_fast=True)

    def ranking(
        self, scene_id: str, texts: Mapping[str, str]
    ) -> Callable[[], list[dict[str, Json]]]:
        """Return what ranks texts without a model, the best first; it may be called in a thread."""
        scorings = {name: self.scoring(scene_id, text) for name, text in texts.items()}
        return lambda: rank({name: score() for name, score in scorings.items()})

    def analysis(self, scene_id: str) -> SceneAnalysis | None:
        """Return the last analysis of a scene, whatever its text was then."""
        body = self._workspace.records.get(ANALYSIS_KIND, scene_id)
        return None if body is None else SceneAnalysis.from_json(body)

    def blocks(self, scene_id: str, text: str | None = None) -> tuple[Issue, ...]:
        """Return what keeps a scene from being accepted: zero-tolerance hits nobody waived."""
        return self.not_waived(self.analyze_fast(scene_id, text))

    def not_waived(self, analysis: SceneAnalysis) -> tuple[Issue, ...]:
        """Return the zero-tolerance hits of an analysis that nobody waived."""
        waived = {(each.pattern, each.quote) for each in self.waivers(analysis.scene_id)}
        return tuple(
            hit for hit in analysis.zero_tolerance if (hit.pattern, hit.quote) not in waived
        )

    def waivers(self, scene_id: str) -> tuple[Waiver, ...]:
        """Return what the writer wants in a scene as it is."""
        body = self._workspace.records.get(WAIVER_KIND, scene_id) or {"waivers": []}
        return tuple(Waiver(**each) for each in body["waivers"])

    async def waive(self, scene_id: str, pattern: str, quote: str, reason: str) -> Waiver:
        """Let one zero-tolerance hit stand because the writer wants it."""
        hits = [(hit.pattern, hit.quote) for hit in self.blocks(scene_id)]
        if (pattern, quote) not in hits:
            raise InvalidInput(
                f"{scene_id} holds no {pattern!r} as {quote!r} that is not waived",
                fix=f"It holds: {', '.join(f'{p}: {q}' for p, q in hits) or 'none'}.",
            )
        if not reason.strip():
            raise InvalidInput("A waiver needs a reason", fix="Say why it stays.")
        waiver = Waiver(pattern, quote, reason.strip())

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            before = (body or {"waivers": []})["waivers"]
            added = {"pattern": pattern, "quote": quote, "reason": waiver.reason}
            return {"waivers": [*before, added]}

        await self._workspace.records.change(WAIVER_KIND, scene_id, work)
        return waiver

    # Enhancement

    def enhancement(self, enhancement_id: str) -> Enhancement:
        """Return what an enhancement proposes."""
        return kept.load_enhancement(self._workspace.records, enhancement_id)

    def enhancements(self, scene_id: str) -> tuple[Enhancement, ...]:
        """Return the enhancements of a scene, oldest first."""
        return kept.enhancements_of(self._workspace.records, scene_id)

    async def decide(
        self,
        enhancement_id: str,
        *,
        accept: Collection[str] = (),
        reject: Collection[str] = (),
        force: bool = False,
    ) -> Enhancement:
        """Take or refuse changes; the scene then holds what is accepted, and nothing else of it.

        The decision is on record before the scene is touched: made again after a crash, or
        followed by another one, it ends the same.
        """
        enhanced = self.enhancement(enhancement_id)
        if self.manuscript.text(enhanced.scene_id) not in (enhanced.current, enhanced.upcoming):
            raise ChangedSince(
                f"{enhanced.scene_id} was changed after it was enhanced",
                fix="Enhance it again.",
                enhancement=enhancement_id,
            )
        changes = decide(enhanced.changes, accept, reject)
        text = accepted_text(enhanced.original, changes)
        meta = self.manuscript.scene(enhanced.scene_id)
        if meta.status in _ENHANCEABLE:
            meta = replace(meta, status=SceneStatus.ENHANCED)
        begun = replace(enhanced, changes=changes, upcoming=body_as_kept(text))
        await self._workspace.records.put(kept.KIND, enhancement_id, begun.to_json())
        reason = f"{enhanced.mode} {enhancement_id}"
        try:
            await self.manuscript.save(enhanced.scene_id, text, meta, reason=reason, force=force)
        except TextUnproven:
            await self._workspace.records.put(kept.KIND, enhancement_id, enhanced.to_json())
            raise
        current = self.manuscript.text(enhanced.scene_id)
        decided = replace(begun, current=current, upcoming=None)
        await self._workspace.records.put(kept.KIND, enhancement_id, decided.to_json())
        return decided

    # Editing

    @cached_property
    def edits(self) -> Edits:
        """The edits: `apply`, `undo`, `history`."""
        return Edits(self._workspace, self.manuscript, self.brief)

    @cached_property
    def proposals(self) -> Proposals:
        """The proposals: `propose`, `accept`, `reject`, `all`."""
        return Proposals(self._workspace, self.manuscript, self.edits)

    # Completion

    def completion(self) -> Completion:
        """Return whether the writer has marked the manuscript complete."""
        return read_completion(self._workspace)

    async def reopen(self, *, by: str) -> Completion:
        """Take the completion back."""
        return await reopen_book(self._workspace, by=by)

    def open_errors(self) -> tuple[str, ...]:
        """Return what a writer should know before calling the book done."""
        story, settings = self.story(), self._workspace.settings.analysis
        found = [each.title for each in story.health if each.severity is Severity.ERROR]
        found += [f"open conflict: {text}" for text in story.conflicts]
        for scene in self.texts():
            if not scene.text.strip():
                found.append(f"{scene.meta.scene_id} is planned and not written")
                continue
            if scene.meta.status not in WRITTEN:
                found.append(f"{scene.meta.scene_id} is written and not accepted")
            analysis = score_scene(scene.text, story.brief_of(scene.meta), None, settings)
            for issue in self.not_waived(analysis):
                found.append(f"{scene.meta.scene_id}, line {issue.line}: {issue.quote}")
        return tuple(found)


def rank(analyses: Mapping[str, SceneAnalysis]) -> list[dict[str, Json]]:
    """Return analyses by name, the best first; of equals the one with less to forgive."""
    order = sorted(
        analyses.items(),
        key=lambda each: (len(each[1].zero_tolerance) > 0, -each[1].total, each[0]),
    )
    return [
        {
            "rank": number,
            "name": name,
            "total": analysis.total,
            "band": analysis.band.value,
            "zero_tolerance": len(analysis.zero_tolerance),
            "analysis": analysis.to_json(),
        }
        for number, (name, analysis) in enumerate(order, start=1)
    ]

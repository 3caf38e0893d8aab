"""Six-pass: the scene is gone through six times, and each pass has to prove that it does no harm.

A pass that fails its proof leaves the text as it was and a note why. A small model cannot rewrite a
scene; its passes make only the cuts that code offers, and say so where there is nothing to offer.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from callboard.choreography.stage import Stage
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.prose import TextChange, track_changes
from callboard.packs.writers_factory.revision.analysis.findings import Issue
from callboard.packs.writers_factory.revision.analysis.judging import Judged, analyze_text
from callboard.packs.writers_factory.revision.enhancement.fixes import changes_of, check_fixes
from callboard.packs.writers_factory.revision.enhancement.proposal import (
    PASSES,
    Enhancement,
    Pass,
    PassNote,
    ScoredText,
    credit,
    objection,
    preview_text,
)
from callboard.packs.writers_factory.revision.enhancement.quick import (
    EnhancementWork,
    list_issues,
    replacements_for,
    untrusted,
)
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of

DEEP: Final = "six_pass"
_NO_CHANGE: Final = "nothing was changed"


@dataclass
class _Progress:
    """A scene between two passes."""

    draft: ScoredText
    changes: tuple[TextChange, ...] = ()
    passes: list[PassNote] = field(default_factory=list[PassNote])
    notes: list[str] = field(default_factory=list[str])


async def revise_scene(stage: Stage, work: EnhancementWork) -> Enhancement:
    """Return what six passes propose for a scene, with the analysis before and after them."""
    settings = Workspace(stage.studio).settings.analysis
    before = await analyze_text(stage, Judged("before", work.text, work.brief), work.judge)
    progress = _Progress(ScoredText(work.text, before))
    for each in PASSES:
        if progress.draft.analysis.total >= settings.stop_early_at:
            total = progress.draft.analysis.total
            progress.notes.append(f"Stopped before pass {each.number}: the scene scores {total:g}.")
            break
        await stage.emit("pass", {"number": each.number, "name": each.name, "of": len(PASSES)})
        await _make(stage, work, each, progress)
    reverted = sum(not note.is_kept for note in progress.passes)
    if reverted:
        progress.notes.append(f"{reverted} passes were not kept.")
    return Enhancement(
        id=work.id,
        scene_id=work.brief.scene_id,
        mode=DEEP,
        original=work.text,
        changes=progress.changes,
        before=before,
        after=progress.draft.analysis,
        passes=tuple(progress.passes),
        notes=tuple(progress.notes),
        current=work.text,
    )


async def _make(stage: Stage, work: EnhancementWork, each: Pass, progress: _Progress) -> None:
    draft = progress.draft
    note = PassNote(each.number, each.name, is_kept=False, score_before=draft.analysis.total)
    text = await _rewritten(stage, work, each, draft)
    if text == draft.text:
        progress.passes.append(replace(note, reverted=_NO_CHANGE))
        return
    key = f"pass/{each.number}/analysis"
    analysis = await analyze_text(stage, Judged(key, text, work.brief), work.judge)
    after = ScoredText(text, analysis)
    why = objection(each, draft, after, Workspace(stage.studio).settings.analysis)
    is_kept = not why
    progress.passes.append(replace(note, is_kept=is_kept, score_after=analysis.total, reverted=why))
    if is_kept:
        found = track_changes(
            work.text, text, revision_pass=each.name, reason=f"Pass {each.number}: {each.name}"
        )
        progress.draft, progress.changes = after, credit(found, progress.changes)


async def _rewritten(stage: Stage, work: EnhancementWork, each: Pass, draft: ScoredText) -> str:
    issues = tuple(i for i in draft.analysis.issues if i.category is each.category)
    model = model_of(Workspace(stage.studio), WRITER, work.model)
    if is_small(Workspace(stage.studio), model):
        return await _cut(stage, work, each, draft.text, issues)
    workspace = work.brief.judge
    reply = await stage.ask(
        f"pass/{each.number}",
        WRITER,
        prompt=each.prompt,
        model=model,
        scene=untrusted("scene", draft.text),
        issues=list_issues(issues),
        voice=untrusted("voice", workspace.voice),
        gold_excerpt=untrusted("gold_excerpt", workspace.gold_excerpt),
        evolution=untrusted("evolution", workspace.evolution),
        beat=untrusted("beat", workspace.beat),
        goal=untrusted("goal", workspace.goal),
        characters=untrusted("characters", workspace.characters),
        world_rules=untrusted("world_rules", workspace.world_rules),
        corrections=untrusted("corrections", workspace.corrections),
        threads=untrusted("threads", workspace.threads),
        avoid=untrusted("avoid", "\n".join(work.brief.patterns.zero_tolerance())),
    )
    return clean_rewrite(reply.text, draft.text)


async def _cut(
    stage: Stage, work: EnhancementWork, each: Pass, text: str, issues: tuple[Issue, ...]
) -> str:
    now = replace(work, text=text)
    found = await replacements_for(stage, f"pass/{each.number}", now, issues)
    return preview_text(text, changes_of(text, check_fixes(text, found, issues)))


def clean_rewrite(said: str, before: str) -> str:
    """Return a rewritten scene without packing, beginning and ending like the text it replaces."""
    text = said.strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        text = text[3:-3].partition("\n")[2].strip()
    if not text:
        return before
    opening = before[: len(before) - len(before.lstrip())]
    ending = before[len(before.rstrip()) :]
    return f"{opening}{text}{ending}"

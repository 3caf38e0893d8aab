"""The action prompt: one call for all issues of a scene, each answered by a small replacement.

A small model chooses among replacements that code made. Nothing is written: the fixes are a
preview, and the writer decides about each.
"""

from dataclasses import dataclass, replace
from typing import Final

from callboard.choreography.answers import Answer, choices
from callboard.choreography.questions import Judge, Question, ask
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import Issue, SceneAnalysis
from callboard.packs.writers_factory.revision.analysis.judging import Judged, analyze_text
from callboard.packs.writers_factory.revision.enhancement.alternatives import (
    Alternatives,
    alternatives_for,
)
from callboard.packs.writers_factory.revision.enhancement.changes import preview_text
from callboard.packs.writers_factory.revision.enhancement.fixes import (
    ACTION_PROMPT,
    MOST_FIXES,
    Replacement,
    Replacements,
    changes_of,
    check_fixes,
)
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement
from callboard.packs.writers_factory.staff import is_small, model_of

_FIXES: Final = Question("revision/fix_issues", Replacements)
_SMALL_PROMPT: Final = "revision/choose_fixes"
_CHOICE_TOKENS: Final = 200


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be enhanced, and how; without a judge only code measures it."""

    id: str
    text: str
    brief: SceneBrief
    judge: Judge | None = None
    model: str | None = None


async def fix_scene(stage: Stage, work: Work) -> Enhancement:
    """Return the fixes proposed for a scene, with the analysis before and after them."""
    before = await analyze_text(stage, Judged("before", work.text, work.brief), work.judge)
    issues = before.issues[:MOST_FIXES]
    if not issues:
        return _proposal(work, before, before, notes=("There is nothing to fix.",))
    replacements = await replacements_for(stage, "fixes", work, issues)
    fixes = check_fixes(work.text, replacements, issues)
    changes = changes_of(work.text, fixes)
    after = before
    if changes:
        text = preview_text(work.text, changes)
        after = await analyze_text(stage, Judged("after", text, work.brief), work.judge)
    unapplied = sum(bool(fix.unapplied) for fix in fixes)
    notes = (f"{unapplied} fixes cannot be made.",) if unapplied else ()
    proposed = _proposal(work, before, after, notes=notes)
    return replace(proposed, changes=changes, fixes=fixes)


async def replacements_for(
    stage: Stage, key: str, work: Work, issues: tuple[Issue, ...]
) -> tuple[Replacement, ...]:
    """Ask for replacements, one call whatever the model; a small one chooses."""
    ground = Ground(stage.studio)
    model = model_of(ground, WRITER, work.model)
    if is_small(ground, model):
        return await _chosen(stage, key, work, issues)
    found = await ask(
        stage,
        key,
        WRITER,
        _FIXES,
        model=model,
        scene=Content(work.text, f"scene:{work.brief.scene_id}", Trust.UNTRUSTED),
        issues=list_issues(issues),
        voice=untrusted("voice", work.brief.judge.voice),
        avoid=untrusted("avoid", "\n".join(work.brief.patterns.zero_tolerance())),
    )
    return found.fixes


async def _chosen(
    stage: Stage, key: str, work: Work, issues: tuple[Issue, ...]
) -> tuple[Replacement, ...]:
    offered = alternatives_for(work.text, issues)
    # The first way out is the mildest.
    chosen = {each.issue: next(iter(each.options)) for each in offered}
    chosen |= await _choices(stage, key, work, offered, issues)
    return tuple(each.options[chosen[each.issue]] for each in offered)


async def _choices(
    stage: Stage,
    key: str,
    work: Work,
    offered: tuple[Alternatives, ...],
    issues: tuple[Issue, ...],
) -> dict[int, str]:
    """Ask about the issues with more than one way out."""
    open_ones = [each for each in offered if len(each.options) > 1]
    if not open_ones:
        return {}
    ways = {f"issue_{each.issue}": list(each.options) for each in open_ones}
    question: Question[Answer] = Question(_SMALL_PROMPT, choices(**ways), max_tokens=_CHOICE_TOKENS)
    picks = await ask(
        stage,
        key,
        WRITER,
        question,
        model=model_of(Ground(stage.studio), WRITER, work.model),
        issues=untrusted("issues", _listed(open_ones, issues)),
    )
    return {each.issue: getattr(picks, f"issue_{each.issue}") for each in open_ones}


def list_issues(issues: tuple[Issue, ...]) -> Content:
    """Return issues as a numbered list; it quotes the scene and so is not to be trusted."""
    lines = [
        f"{number}. [{issue.category}, {issue.severity}] line {issue.line}: "
        f"{issue.problem}\n   quote: {issue.quote}"
        + (f"\n   suggestion: {issue.suggestion}" if issue.suggestion else "")
        for number, issue in enumerate(issues, start=1)
    ]
    return untrusted("issues", "\n".join(lines) or "(none)")


def untrusted(name: str, text: str) -> Content:
    """Return a text of the story as something a prompt may show and nobody obeys."""
    return Content(text or "(nothing known)", f"story:{name}", Trust.UNTRUSTED)


def _listed(offered: list[Alternatives], issues: tuple[Issue, ...]) -> str:
    return "\n".join(f"issue_{each.issue}: {issues[each.issue - 1].quote}" for each in offered)


def _proposal(
    work: Work, before: SceneAnalysis, after: SceneAnalysis, notes: tuple[str, ...]
) -> Enhancement:
    return Enhancement(
        id=work.id,
        scene_id=work.brief.scene_id,
        mode=ACTION_PROMPT,
        original=work.text,
        changes=(),
        before=before,
        after=after,
        notes=notes,
        current=work.text,
    )

"""The action prompt: one call for all issues of a scene, each answered by a small replacement.

A small model chooses among replacements that code made. Nothing is written: the fixes are a
preview, and the writer decides about each.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.choreography.answers import Answer, choices
from callboard.choreography.questions import Judge, Question, ask
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.model import WRITER
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import Issue, SceneAnalysis, Source
from callboard.packs.writers_factory.revision.analysis.judging import Judged, analyze_text
from callboard.packs.writers_factory.revision.analysis.quotes import Span, sentences_of
from callboard.packs.writers_factory.revision.enhancement.fixes import (
    ACTION_PROMPT,
    MOST_FIXES,
    Replacement,
    Replacements,
    changes_of,
    check_fixes,
)
from callboard.packs.writers_factory.revision.enhancement.proposal import Enhancement, preview_text
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of

_MOST_ISSUES: Final = 8
_ADJUNCT: Final = re.compile(r"(?:with|like|as)\b", re.IGNORECASE)
_SIMILE: Final = re.compile(r"(?:like|as)\b", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[,.;:!?\u2014\u2026\"\u201d]")
_LITERAL: Final = re.compile(r"[\"\u201c`]([^\"\u201d`]{1,80})[\"\u201d`]")


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What can be done about one issue, by the words a model chooses with."""

    issue: int
    options: dict[str, Replacement]


def alternatives_for(text: str, issues: Sequence[Issue]) -> tuple[Alternatives, ...]:
    """Return what code can do about issues; those it cannot help are left out."""
    sentences = sentences_of(text)
    found: list[Alternatives] = []
    for number, issue in enumerate(issues, start=1):
        options = _options(text, number, issue, sentences)
        if options:
            found.append(Alternatives(number, options))
    return tuple(found[:_MOST_ISSUES])


def _options(
    text: str, number: int, issue: Issue, sentences: Sequence[Span]
) -> dict[str, Replacement]:
    if issue.source is not Source.SCAN or issue.start < 0:
        return {}
    home = next((s for s in sentences if s.start <= issue.start and issue.end <= s.end), None)
    if home is None:
        return {}
    options: dict[str, Replacement] = {}
    cut = _without_adjunct(text, issue, home)
    if cut is not None:
        options["cut the phrase"] = _replacement(number, home.quote, cut, "The phrase is cut.")
    literal = _LITERAL.search(issue.suggestion)
    if literal is not None:
        put = text[home.start : issue.start] + literal[1] + text[issue.end : home.end]
        options["put the other words"] = _replacement(number, home.quote, put, issue.suggestion)
    whole = _without_sentence(text, home, sentences)
    if whole is not None and cut is None:
        options["cut the sentence"] = _replacement(number, whole, "", "The sentence is cut.")
    return options


def _without_adjunct(text: str, issue: Issue, home: Span) -> str | None:
    phrase = text[issue.start : issue.end]
    before = text[home.start : issue.start]
    if not _ADJUNCT.match(phrase) or not before.strip():
        return None
    end = issue.end
    if _SIMILE.match(phrase):
        stop = _CLAUSE_END.search(text, issue.end, home.end)
        end = stop.start() if stop else home.end
    rest = text[end : home.end]
    kept = before.rstrip(" ,")
    return kept + (rest if not rest or not rest[0].isalnum() else f" {rest}")


def _without_sentence(text: str, home: Span, sentences: Sequence[Span]) -> str | None:
    """Return the words to cut so that the sentence goes and no double space stays."""
    at = sentences.index(home)
    follows = sentences[at + 1] if at + 1 < len(sentences) else None
    if follows is not None and "\n" not in text[home.end : follows.start]:
        return text[home.start : follows.start]
    before = sentences[at - 1] if at else None
    if before is not None and "\n" not in text[before.end : home.start]:
        return text[before.end : home.end]
    return None


def _replacement(issue: int, old_text: str, new_text: str, reason: str) -> Replacement:
    return Replacement(issue=issue, old_text=old_text, new_text=new_text, reason=reason)


_FIXES: Final = Question("revision/fix_issues", Replacements)
_SMALL_PROMPT: Final = "revision/choose_fixes"
_CHOICE_TOKENS: Final = 200


@dataclass(frozen=True, slots=True)
class EnhancementWork:
    """What is to be enhanced, and how; without a judge only code measures it."""

    id: str
    text: str
    brief: SceneBrief
    judge: Judge | None = None
    model: str | None = None


async def fix_scene(stage: Stage, work: EnhancementWork) -> Enhancement:
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
    stage: Stage, key: str, work: EnhancementWork, issues: tuple[Issue, ...]
) -> tuple[Replacement, ...]:
    """Ask for replacements, one call whatever the model; a small one chooses."""
    workspace = Workspace(stage.studio)
    model = model_of(workspace, WRITER, work.model)
    if is_small(workspace, model):
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
    stage: Stage, key: str, work: EnhancementWork, issues: tuple[Issue, ...]
) -> tuple[Replacement, ...]:
    offered = alternatives_for(work.text, issues)
    # The first way out is the mildest.
    chosen = {each.issue: next(iter(each.options)) for each in offered}
    chosen |= await _choices(stage, key, work, offered, issues)
    return tuple(each.options[chosen[each.issue]] for each in offered)


async def _choices(
    stage: Stage,
    key: str,
    work: EnhancementWork,
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
        model=model_of(Workspace(stage.studio), WRITER, work.model),
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
    work: EnhancementWork, before: SceneAnalysis, after: SceneAnalysis, notes: tuple[str, ...]
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

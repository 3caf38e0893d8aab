"""`scene_draft_validator`: whether a scene, or the text of a draft, is ready to be read."""

from collections.abc import Sequence
from typing import Final, Self

from pydantic import Field, model_validator

from callboard.core.canonical import Json, digest
from callboard.library.story.facts.cards import card_lines
from callboard.library.story.index import Outline, StoryEntity, StoryIndex, story_index
from callboard.library.story.index.metadata import describe
from callboard.library.story.model import Severity, StoryFile, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.thresholds import (
    Thresholds,
    thresholds,
)
from callboard.library.story.tools.canon.checking import conflict_json
from callboard.library.story.tools.canon.tool import (
    CanonCheck,
    cards_for,
    check_scene,
    kept_small_words,
)
from callboard.library.story.tools.draft.beats import EntryMatch, cover, match_entry
from callboard.library.story.tools.draft.checks import (
    CheckedDraft,
    DraftCheck,
    Mark,
    recommend,
    run_checks,
)
from callboard.library.story.tools.report import ToolReport, counted, finish, make_finding, plan
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool

TOOL: Final = "scene_draft_validator"
# What quotes from a text that is in no file name as their path.
DRAFT_PATH: Final = "text"


class SceneDraftValidatorArgs(ToolArgs):
    """Which scene, or the text that is to become it."""

    scene_path: str | None = Field(None, min_length=1)
    text: str | None = Field(None, description="A draft that is not in a file yet")
    outline_path: str | None = Field(None, min_length=1)
    include_canon: bool = True

    @model_validator(mode="after")
    def _has_a_scene(self) -> Self:
        if self.scene_path is None and self.text is None:
            raise ValueError("give scene_path, or text")
        return self


def _plan(context: ToolContext, args: SceneDraftValidatorArgs) -> DryRun:
    index = story_index(context)
    scene = [index.file(args.scene_path).path] if args.scene_path and args.text is None else []
    outline = _outline_path(index, args)
    cards = [file.path for file in index.canon] if args.include_canon else []
    return plan([*scene, *([outline] if outline else []), *cards])


def validate_draft(
    context: ToolContext, args: SceneDraftValidatorArgs
) -> tuple[CheckedDraft, list[DraftCheck], str]:
    """Make every check of a scene or a draft; return them and what they add up to."""
    index, limits = story_index(context), thresholds(context)
    document, file = _scene(index, args)
    outline_path = _outline_path(index, args)
    outline = index.read_outline(outline_path) if outline_path else None
    match = _match(index, limits, args, file, outline, outline_path)
    canon = _canon(context, index, limits, args, document)
    draft = _draft(index, limits, document, file, outline_path, match, canon)
    checks = run_checks(draft)
    return draft, checks, recommend(checks)


@tool(dry_run=_plan)
def scene_draft_validator(context: ToolContext, args: SceneDraftValidatorArgs) -> ToolResult:
    """Check a scene or a draft against its outline beat, its canon and the craft's minimum."""
    index, limits = story_index(context), thresholds(context)
    draft, checks, verdict = validate_draft(context, args)
    outline_path = _outline_path(index, args)
    reads = [path for path in (draft.file.path, outline_path) if path and index.has(path)]
    reads += draft.canon.reads if draft.canon else ()
    card = draft.pov_entity.card if draft.pov_entity else None
    if card is not None:
        reads.append(card)
    return finish(index, limits, _report(index, draft, checks, verdict, reads, args))


def _scene(index: StoryIndex, args: SceneDraftValidatorArgs) -> tuple[Document, StoryFile]:
    if args.text is None:
        path = args.scene_path or ""
        return index.document(path), index.file(path)
    document = Document(DRAFT_PATH, args.text)
    # What the text is to become tells its number and title where the text itself does not.
    named = Document(args.scene_path or DRAFT_PATH, args.text)
    return document, describe(named, digest(args.text))


def _outline_path(index: StoryIndex, args: SceneDraftValidatorArgs) -> str | None:
    if args.outline_path is not None:
        return index.need_outline(args.outline_path).path
    return index.outline.path if index.outline else None


def _match(
    index: StoryIndex,
    limits: Thresholds,
    args: SceneDraftValidatorArgs,
    file: StoryFile,
    outline: Outline | None,
    outline_path: str | None,
) -> EntryMatch | None:
    if outline is None:
        return None
    matched: int | None = None
    if index.outline is not None and outline_path == index.outline.path and args.scene_path:
        by_path = {path: entry for entry, path in index.outline_matches.items()}
        matched = by_path.get(args.scene_path)
    fuzzy = limits.outline.fuzzy_title
    return match_entry(outline, file, matched, fuzzy)


def _canon(
    context: ToolContext,
    index: StoryIndex,
    limits: Thresholds,
    args: SceneDraftValidatorArgs,
    document: Document,
) -> CanonCheck | None:
    if not args.include_canon:
        return None
    return check_scene(
        index,
        limits,
        document,
        cards_for(index, document),
        scene_path=args.scene_path or document.path,
        small_words_of=kept_small_words(context),
    )


def _draft(
    index: StoryIndex,
    limits: Thresholds,
    document: Document,
    file: StoryFile,
    outline_path: str | None,
    match: EntryMatch | None,
    canon: CanonCheck | None,
) -> CheckedDraft:
    own = limits.draft
    coverage = (
        cover(
            document,
            match.entry,
            index.document(outline_path),
            covered=own.beat_covered,
            partial=own.beat_partial,
        )
        if match and outline_path
        else []
    )
    pov = file.pov or (match.entry.fields.get("pov") if match else None)
    return CheckedDraft(
        document=document,
        file=file,
        entities=index.entities,
        match=match,
        coverage=coverage,
        pov=pov,
        pov_entity=index.entities.get(pov) if pov else None,
        canon=canon,
        has_outline=outline_path is not None,
        limits=own,
    )


def _report(
    index: StoryIndex,
    draft: CheckedDraft,
    checks: Sequence[DraftCheck],
    verdict: str,
    reads: Sequence[str],
    args: SceneDraftValidatorArgs,
) -> ToolReport:
    counts = {mark: sum(check.mark is mark for check in checks) for mark in Mark}
    told = (
        f"{verdict}: {counts[Mark.FAIL]} FAIL, {counts[Mark.WARN]} WARN, {counts[Mark.PASS]} PASS"
    )
    what = args.scene_path or "the draft"
    return ToolReport(
        tool=TOOL,
        preview=f"{told} for {what}",
        payload=_payload(index, draft, checks, verdict, args),
        reads=reads,
        findings=_findings(checks),
        cut_short=draft.canon.cut_short if draft.canon else (),
        headline=f"{what}: {told} ({counted(draft.document.word_count, 'word')}).",
        details=[f"- {check.mark.value} {check.name}: {check.message}" for check in checks],
    )


def _payload(
    index: StoryIndex,
    draft: CheckedDraft,
    checks: Sequence[DraftCheck],
    verdict: str,
    args: SceneDraftValidatorArgs,
) -> dict[str, Json]:
    entity = draft.pov_entity
    return {
        "recommendation": verdict,
        "checks": [check.to_json() for check in checks],
        "counts": {mark.value: sum(c.mark is mark for c in checks) for mark in Mark},
        "scene": {
            **draft.file.to_json(),
            "path": args.scene_path,
            "is_draft_text": args.text is not None,
            "content": draft.document.prose,
        },
        "beat": _beat(draft),
        "beats": [each.to_json() for each in draft.coverage],
        "card": _card(index, entity) if entity else None,
        "conflicts": [conflict_json(c) for c in draft.canon.verdict.clashes] if draft.canon else [],
        "language_supported": draft.document.is_english,
    }


def _beat(draft: CheckedDraft) -> dict[str, Json] | None:
    if draft.match is None:
        return None
    entry = draft.match.entry
    return {
        "index": entry.index,
        "number": entry.number,
        "title": entry.title,
        "act": entry.act,
        "fields": dict(entry.fields),
        "summary": entry.summary,
        "beats": [beat.text for beat in entry.beats],
        "lines": [entry.line_start, entry.line_end],
        "method": draft.match.method,
        "confidence": draft.match.confidence,
    }


def _card(index: StoryIndex, entity: StoryEntity) -> dict[str, Json] | None:
    if entity.card is None:
        return None
    document = index.document(entity.card)
    return {
        "path": entity.card,
        "name": entity.name,
        "fields": [
            {"key": line.key, "value": line.value, "line": line.line}
            for line in card_lines(document, entity.name)
        ],
        "content": document.prose,
    }


def _findings(checks: Sequence[DraftCheck]) -> list[StoryFinding]:
    """Return what failed and can be shown in the text as findings."""
    return [
        make_finding(
            TOOL,
            check.name,
            Severity.MAJOR if check.mark is Mark.FAIL else Severity.MINOR,
            check.message,
            check.quotes,
        )
        for check in checks
        if check.mark is not Mark.PASS and check.quotes
    ]

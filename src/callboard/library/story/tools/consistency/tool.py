"""`consistency_checker`: the continuity of a book as a tool, with what the report rests on."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.facts.values import MONTHS, date_in, days_later, weekday_in
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.text import Document
from callboard.library.story.thresholds import ConsistencyThresholds, thresholds
from callboard.library.story.tools.consistency.continuity import (
    CHECKS,
    ConsistencyCheck,
    Continuity,
    book_of,
)
from callboard.library.story.tools.report import ToolReport, counted, finish, plan
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, TooManyFiles, tool

_PER_FILE: Final = 20
_LISTED: Final = 40
# What no marker of time can do without; most sentences have none of it.
_TRIGGER: Final = re.compile(
    rf"day|week|fortnight|next|following|{'|'.join(month[:3] for month in MONTHS)}|\d{{2}}",
    re.IGNORECASE,
)
_HYPHENATED: Final = re.compile(r"\b[^\W\d_]{2,}-[^\W\d_]{2,}\b")


def shared_terms(
    documents: Sequence[Document], references: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Json]]:
    """Return the names and compound words that occur in more than one file."""
    counts: dict[str, dict[str, int]] = {
        name: dict(found) for name, found in references.items() if len(found) > 1
    }
    for document in documents:
        for word, count in Counter(_HYPHENATED.findall(document.prose.lower())).items():
            counts.setdefault(word, {})[document.path] = count
    return [
        {"term": term, "files": counts[term]} for term in sorted(counts) if len(counts[term]) > 1
    ]


def time_markers(documents: Sequence[Document]) -> list[dict[str, Json]]:
    """Return the sentences that name a date, a weekday or a span, file by file."""
    found: list[dict[str, Json]] = []
    for document in documents:
        told = 0
        for sentence in document.sentences if document.is_english else ():
            kind = _kind(sentence.text)
            if kind is not None and told < _PER_FILE:
                told += 1
                found.append({"kind": kind, "quote": document.quote(sentence).to_json()})
    return found


def _kind(text: str) -> str | None:
    if not _TRIGGER.search(text):
        return None
    if days_later(text):
        return "span"
    date = date_in(text)
    if date is not None and (date.month is not None or date.day_number is not None):
        return "date"
    return "weekday" if weekday_in(text) else None


class ConsistencyCheckerArgs(ToolArgs):
    """Which files, and what to look for."""

    file_paths: list[str] = Field(
        default_factory=list[str],
        description="Scenes, and cards if wanted; without them the whole book with its cards",
    )
    focus: Literal["characters", "terminology", "events", "general"] = "general"
    all: bool = Field(False, description="List every finding, also what repeats itself")
    pairs: bool = Field(False, description="Count the passages that only a judge could compare")


def _paths(index: StoryIndex, args: ConsistencyCheckerArgs) -> list[str]:
    if not args.file_paths:
        return book_of(index)
    found = [file.path for path in args.file_paths for file in index.chapters_of(path)]
    return list(dict.fromkeys(found))


def _plan(context: ToolContext, args: ConsistencyCheckerArgs) -> DryRun:
    index = story_index(context)
    return plan(index.document(path).file_path for path in _paths(index, args))


@tool(dry_run=_plan)
def consistency_checker(context: ToolContext, args: ConsistencyCheckerArgs) -> ToolResult:
    """Find where a book, or some of its files, contradicts itself in facts, people, terms, time."""
    index, limits = story_index(context), thresholds(context)
    paths = _paths(index, args)
    _refuse_too_much(index, limits.consistency, paths)
    check = ConsistencyCheck(index, limits, paths, kept=context.kept)
    report = check.report(args.focus)
    findings = report.all_findings if args.all else report.findings
    preview = _preview(report, args.focus)
    is_checked = report.status != "NOT_CHECKED"
    # Pairing reads the whole book once more: only whoever asks for it waits for it.
    unjudged = len(check.pairs().chosen) if args.pairs and is_checked else None
    return finish(
        index,
        limits,
        ToolReport(
            tool="consistency_checker",
            preview=preview,
            payload={**_payload(check, args, report), "pairs_not_judged": unjudged},
            reads=report.files_checked,
            findings=findings,
            cut_short=check.gathering.cut_short,
            headline=(
                f"{preview}; focus {args.focus}. Checked: {_shown(report.files_checked)}."
                f"{_unjudged(unjudged) if is_checked else ''}"
            ),
        ),
    )


def _preview(report: Continuity, focus: str) -> str:
    if report.status == "NOT_CHECKED":
        return f"Not checked: {report.reason}"
    found = report.all_findings
    told = ", ".join(f"{sum(each.type == kind for each in found)} {kind}" for kind in CHECKS[focus])
    files = counted(len(report.files_checked), "file")
    return f"{counted(len(found), 'finding')} in {files} ({told})"


def _unjudged(pairs: int | None) -> str:
    told = f": {counted(pairs, 'pair')} of passages were not judged" if pairs else ""
    return f" Only rules have looked{told}."


def _shown(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(paths[:_LISTED]) + more if paths else "nothing"


def _refuse_too_much(index: StoryIndex, limits: ConsistencyThresholds, paths: list[str]) -> None:
    """Refuse more than is checked in the time a tool has, before any of it is read closely."""
    if len(paths) > limits.max_files:
        raise TooManyFiles(
            f"consistency_checker takes up to {limits.max_files} files, {len(paths)} were given",
            fix="Give fewer, or raise consistency.max_files in .callboard/story.yaml.",
        )
    chars = sum(len(index.document(path).text) for path in paths)
    if chars > limits.max_chars:
        raise TooManyFiles(
            f"consistency_checker takes up to {limits.max_chars:,} characters in all,"
            f" the {len(paths)} files have {chars:,}",
            fix="Give fewer, or raise consistency.max_chars in .callboard/story.yaml.",
        )


def _payload(
    check: ConsistencyCheck, args: ConsistencyCheckerArgs, report: Continuity
) -> dict[str, Json]:
    named = {document.path: check.gathering.entities_in(document) for document in check.documents}
    days = {scene.file.path: scene.day.text for scene in check.scenes if scene.day}
    references: dict[str, dict[str, int]] = {}
    for path, found in named.items():
        for name, count in found.items():
            references.setdefault(name, {})[path] = count
    return {
        "status": report.status,
        "reason": report.reason,
        "focus": args.focus,
        "checks": list(CHECKS[args.focus]),
        "files": [
            {
                "path": path,
                "when": days.get(path),
                "entities": [
                    {"name": name, "count": count} for name, count in sorted(found.items())
                ],
            }
            for path, found in named.items()
        ],
        "cross_references": {name: references[name] for name in sorted(references)},
        "shared_terms": shared_terms(check.documents, references),
        "time_markers": time_markers(check.documents),
        "files_checked": list(report.files_checked),
    }

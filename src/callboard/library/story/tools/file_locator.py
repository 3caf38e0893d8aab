"""`file_locator`: which files a task or a question is about."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.index import OutlineEntry, StoryIndex, story_index
from callboard.library.story.model import FileKind, Quote
from callboard.library.story.thresholds import thresholds
from callboard.library.story.tools.ranking import FILENAME, FileMatch, FileRanking, best_sentence
from callboard.library.story.tools.report import ToolReport, cite, counted, finish, plan
from callboard.library.story.tools.search import read_criteria, scene_numbers
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool
from callboard.tools.files.glob import compile_glob

_TOKENS_PER_WORD: Final = 4 / 3
_NOUNS: Final = {
    FileKind.SCENE: ("scene", "scenes"),
    FileKind.OUTLINE: ("outline", "outlines"),
    FileKind.CANON: ("canon card", "canon cards"),
    FileKind.OTHER: ("other", "other"),
}


class ScanMode(StrEnum):
    """How deep to look."""

    FAST = "FAST_SCAN"
    DEEP = "DEEP_SCAN"


class FileLocatorArgs(ToolArgs):
    """What to look for, and how deep."""

    search_criteria: str = Field(
        min_length=1, max_length=4_000, description="A task, names, scene numbers or a path"
    )
    scan_mode: ScanMode = Field(ScanMode.FAST, description="DEEP_SCAN also weighs whole texts")
    max_results: int = Field(12, ge=1, le=100)
    include_globs: bool = Field(False, description="Read the criteria as a path pattern")


def _plan(context: ToolContext, args: FileLocatorArgs) -> DryRun:
    index = story_index(context)
    if args.include_globs:
        return plan(match.file.path for match in _by_glob(index, args.search_criteria))
    return plan(file.path for file in index.files)


@tool(dry_run=_plan)
def file_locator(context: ToolContext, args: FileLocatorArgs) -> ToolResult:
    """Find the project's files that a task or question is about, the best first."""
    index = story_index(context)
    limits = thresholds(context)
    sizes = limits.file_locator
    criteria = read_criteria(args.search_criteria, sizes.max_criteria_tokens)
    ranking = FileRanking(index, criteria, sizes)
    is_deep = args.scan_mode is ScanMode.DEEP
    found = (
        _by_glob(index, args.search_criteria)
        if args.include_globs
        else ranking.rank(with_bodies=is_deep)
    )
    shown = found[: args.max_results]
    quotes = {match.file.path: _quote(index, match, ranking) for match in shown}
    canon = _canon_paths(index, shown, args.search_criteria)
    outline = None if index.outline is None else index.outline.path
    payload: dict[str, Json] = {
        "matches": [_match_json(match, quotes[match.file.path]) for match in shown],
        "total": len(found),
        "counts": _counts(found),
        "scene_paths": _scene_paths(index, shown),
        "outline_path": outline,
        "canon_paths": canon,
        "scan_mode": args.scan_mode.value,
    }
    tokens = sum(file.word_count for file in index.files) * _TOKENS_PER_WORD
    if is_deep and tokens > sizes.deep_scan_warning_tokens:
        payload["warning"] = f"DEEP_SCAN went through about {tokens:,.0f} tokens of text."
    reads = [*(match.file.path for match in shown), *([outline] if outline else []), *canon]
    return finish(
        index,
        limits,
        ToolReport(
            tool="file_locator",
            preview=_preview(found, shown),
            payload=payload,
            reads=reads,
            has_findings=False,
            details=_details(shown, quotes, outline, canon),
        ),
    )


def _by_glob(index: StoryIndex, pattern: str) -> list[FileMatch]:
    fits = compile_glob(pattern.strip())
    found = [FileMatch(file) for file in index.files if fits(file.path)]
    for match in found:
        match.add(10.0, FILENAME, 1.0)
    return sorted(found, key=FileMatch.sort_key)


def _quote(index: StoryIndex, match: FileMatch, ranking: FileRanking) -> Quote | None:
    """Return what shows best why a file fits: the sentence with most of the words, or its top."""
    document = index.document(match.file.path)
    sentence = best_sentence(document, ranking.tokens) if ranking.tokens else None
    if sentence is not None:
        return document.quote(sentence)
    if document.headings:
        return document.quote(document.headings[0].line)
    return document.quote(document.sentences[0]) if document.sentences else None


def _match_json(match: FileMatch, quote: Quote | None) -> dict[str, Json]:
    file = match.file
    return {
        "path": file.path,
        "type": file.kind.value,
        "title": file.title,
        "chapter": file.chapter,
        "scene_number": file.scene_number,
        "pov": file.pov,
        "word_count": file.word_count,
        "keywords": match.keywords,
        "score": round(match.points, 2),
        "confidence": round(match.confidence, 2),
        "match_basis": match.basis(),
        "quote": None if quote is None else quote.to_json(),
    }


def _counts(matches: Iterable[FileMatch]) -> dict[str, int]:
    counted_kinds = Counter(match.file.kind for match in matches)
    return {kind.value: counted_kinds[kind] for kind in FileKind}


def _scene_paths(index: StoryIndex, shown: Sequence[FileMatch]) -> list[str]:
    wanted = {match.file.path for match in shown}
    return [scene.path for scene in index.scenes if scene.path in wanted]


def _canon_paths(index: StoryIndex, shown: Sequence[FileMatch], criteria: str) -> list[str]:
    """Return matched cards, then of those whom the criteria, matched scenes or the outline name."""
    paths = [match.file.path for match in shown if match.file.kind is FileKind.CANON]
    scenes = [match.file for match in shown if match.file.kind is FileKind.SCENE]
    told = [criteria, *(scene.pov or "" for scene in scenes)]
    told += [name for scene in scenes for name in scene.characters]
    texts = [*told, *(index.document(scene.path).prose for scene in scenes)]
    texts += [_told(entry) for entry in _entries_meant(index, criteria)]
    for entity in index.card_entities:
        if entity.card is not None and any(_names(entity.aliases, text) for text in texts):
            paths.append(entity.card)
    return list(dict.fromkeys(paths))


def _entries_meant(index: StoryIndex, criteria: str) -> list[OutlineEntry]:
    """Return the outline's scenes that the criteria name by number or whole title."""
    outline = index.outline_tree
    numbers = scene_numbers(criteria)
    return [
        entry
        for entry in (outline.entries if outline is not None else ())
        if entry.number in numbers or _names((entry.title,), criteria)
    ]


def _told(entry: OutlineEntry) -> str:
    return "\n".join([entry.summary, *entry.fields.values(), *(beat.text for beat in entry.beats)])


def _names(aliases: Sequence[str], text: str) -> bool:
    folded = text.casefold()
    return any(
        alias.casefold() in folded
        and re.search(rf"\b{re.escape(alias)}\b", text, re.IGNORECASE) is not None
        for alias in aliases
    )


def _preview(found: Sequence[FileMatch], shown: Sequence[FileMatch]) -> str:
    if not found:
        return "0 files found"
    counts = Counter(match.file.kind for match in found)
    mix = [counted(counts[kind], *_NOUNS[kind]) for kind in FileKind if counts[kind]]
    best = f" (best {len(shown)} listed)" if len(shown) < len(found) else ""
    return f"{counted(len(found), 'file')} found: {', '.join(mix)}{best}"


def _details(
    shown: Sequence[FileMatch],
    quotes: dict[str, Quote | None],
    outline: str | None,
    canon: Sequence[str],
) -> list[str]:
    lines = [f"Outline: {outline or 'none'}"]
    if canon:
        lines.append(f"Canon cards: {', '.join(canon)}")
    for match in shown:
        file = match.file
        facts = [file.kind.value]
        if file.scene_number is not None:
            facts.append(f"number {file.label}")
        facts += [f"POV {file.pov}"] if file.pov else []
        facts.append(counted(file.word_count, "word"))
        lines.append(f"- {file.path}: {file.title} ({', '.join(facts)})")
        quote = quotes[file.path]
        if quote is not None:
            lines.append(f"  {cite(quote)}")
    return lines

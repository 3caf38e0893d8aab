"""`consistency_checker`: where files contradict each other in facts, people, terms and time."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.facts.claims import FactClaim
from callboard.library.story.facts.comparison import Gathering, Leeway
from callboard.library.story.facts.values import MONTHS, date_in, days_later, weekday_in
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.model import FileKind, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.thresholds import ConsistencyThresholds, Thresholds, thresholds
from callboard.library.story.tools.consistency.character import find_dead_who_act, find_two_places
from callboard.library.story.tools.consistency.factual import find_factual
from callboard.library.story.tools.consistency.terminology import TermRules, find_terminology
from callboard.library.story.tools.consistency.timeline import (
    CheckedScene,
    find_ages,
    find_timeline,
    in_story_order,
    others,
)
from callboard.library.story.tools.report import ToolReport, counted, finish, in_order, plan
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, TooManyFiles, tool

_PER_FILE: Final = 20
# What no marker of time can do without; most sentences have none of it.
_TRIGGER: Final = re.compile(
    rf"day|week|fortnight|next|following|{'|'.join(month[:3] for month in MONTHS)}|\d{{2}}",
    re.IGNORECASE,
)
_HYPHENATED: Final = re.compile(r"\b[^\W\d_]{2,}-[^\W\d_]{2,}\b")
_CHECKS: Final = {
    "characters": ("Factual", "Character"),
    "terminology": ("Terminology",),
    "events": ("Character", "Timeline"),
    "general": ("Factual", "Character", "Terminology", "Timeline"),
}


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

    file_paths: list[str] = Field(min_length=1, description="Scenes, and cards if wanted")
    focus: Literal["characters", "terminology", "events", "general"] = "general"


class ConsistencyCheck:
    """The files of one call, read once."""

    def __init__(self, index: StoryIndex, limits: Thresholds, paths: Sequence[str]) -> None:
        """Take the files in any order."""
        self._index = index
        self._limits = limits.consistency
        facts = limits.facts
        self._leeway = Leeway(facts.age_leeway_years, facts.height_leeway_cm)
        self.scenes: list[CheckedScene] = in_story_order(index, paths)
        self.others = others(index, paths)
        self.documents: list[Document] = [
            *(scene.document for scene in self.scenes),
            *(index.document(file.path) for file in self.others),
        ]
        self.gathering = Gathering(index, facts.max_checked_chars, self.documents)

    def findings(self, focus: str) -> tuple[StoryFinding, ...]:
        """Return what the checks of a focus find, the gravest first."""
        wanted = _CHECKS[focus]
        found: list[StoryFinding] = []
        if "Factual" in wanted:
            days = {s.file.path: s.day.date for s in self.scenes if s.day is not None}
            found += find_factual([*self._canon, *self._told], days, self._leeway)
        if "Character" in wanted:
            found += find_dead_who_act(self.scenes, self.gathering)
            found += find_two_places(self.scenes, self.gathering)
        if "Terminology" in wanted:
            found += self._terminology()
        if "Timeline" in wanted:
            found += find_timeline(self.scenes, self._limits.opening_sentences)
            found += find_ages(
                self.scenes, self._told, self._all_canon(), self._limits.age_leeway_years
            )
        return in_order(found)

    @property
    def _canon(self) -> list[FactClaim]:
        cards = [file.path for file in self.others if file.kind is FileKind.CANON]
        return self.gathering.canon_claims(cards)

    @property
    def _told(self) -> list[FactClaim]:
        texts = [scene.document for scene in self.scenes]
        texts += [self._index.document(f.path) for f in self.others if f.kind is FileKind.OTHER]
        return [claim for text in texts for claim in self.gathering.prose_claims(text)]

    def _all_canon(self) -> list[FactClaim]:
        return self.gathering.canon_claims(file.path for file in self._index.canon)

    def _terminology(self) -> list[StoryFinding]:
        limits = self._limits
        names = frozenset(
            word
            for entity in self._index.entities
            if entity.card is not None
            for alias in entity.aliases
            for word in alias.split()
        )
        rules = TermRules(
            limits.term_min_each, limits.term_name_min_letters, limits.term_rare_share
        )
        texts = [scene.document for scene in self.scenes if scene.document.is_english]
        return find_terminology(texts, own_names=names, rules=rules)


def _plan(context: ToolContext, args: ConsistencyCheckerArgs) -> DryRun:
    index = story_index(context)
    return plan(index.file(path).path for path in args.file_paths)


@tool(dry_run=_plan)
def consistency_checker(context: ToolContext, args: ConsistencyCheckerArgs) -> ToolResult:
    """Find where up to ten files contradict each other in facts, people, terms or time."""
    index, limits = story_index(context), thresholds(context)
    paths = list(dict.fromkeys(index.file(path).path for path in args.file_paths))
    _refuse_too_much(index, limits.consistency, paths)
    check = ConsistencyCheck(index, limits, paths)
    findings = check.findings(args.focus)
    reads = [document.path for document in check.documents]
    told = ", ".join(
        f"{sum(each.type == kind for each in findings)} {kind}" for kind in _CHECKS[args.focus]
    )
    preview = f"{counted(len(findings), 'finding')} in {counted(len(paths), 'file')} ({told})"
    return finish(
        index,
        limits,
        ToolReport(
            tool="consistency_checker",
            preview=preview,
            payload=_payload(check, args, reads),
            reads=reads,
            findings=findings,
            cut_short=check.gathering.cut_short,
            headline=f"{preview}; focus {args.focus}. Checked: {', '.join(reads)}.",
        ),
    )


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
    check: ConsistencyCheck, args: ConsistencyCheckerArgs, reads: Sequence[str]
) -> dict[str, Json]:
    named = {document.path: check.gathering.entities_in(document) for document in check.documents}
    references: dict[str, dict[str, int]] = {}
    for path, found in named.items():
        for name, count in found.items():
            references.setdefault(name, {})[path] = count
    return {
        "focus": args.focus,
        "checks": list(_CHECKS[args.focus]),
        "files": [
            {
                "path": path,
                "when": next(
                    (s.day.text for s in check.scenes if s.file.path == path and s.day), None
                ),
                "entities": [
                    {"name": name, "count": count} for name, count in sorted(found.items())
                ],
            }
            for path, found in named.items()
        ],
        "cross_references": {name: references[name] for name in sorted(references)},
        "shared_terms": shared_terms(check.documents, references),
        "time_markers": time_markers(check.documents),
        "files_checked": list(reads),
    }

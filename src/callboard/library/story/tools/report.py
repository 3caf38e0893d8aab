"""What every story tool does alike: findings with stable ids, refs, the summary, the plan.

A tool makes a `Report` and hands it to `finish`. The summary is written most important first, a
point a line, at the fullest budget; whoever puts it into a prompt cuts it with `fit_summary` to
what the model's tier affords.
"""

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from callboard.core.canonical import Json, digest
from callboard.core.words import shorten_at_word
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Quote, Severity, StoryFile, StoryFinding
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import words_of
from callboard.library.story.thresholds import Thresholds
from callboard.tools import DryRun, FileRef, ToolResult, fit_summary

_RANK: Final = {Severity.MAJOR: 0, Severity.MINOR: 1, Severity.INFO: 2}
# So many findings of one kind and of little weight are listed; more are told as one.
_ALIKE: Final = 5
_SPACE: Final = re.compile(r"\s+")
T = TypeVar("T")


def make_finding(
    tool: str,
    kind: str,
    severity: Severity,
    message: str,
    quotes: Iterable[Quote],
    *,
    suggestion: str = "",
    confidence: float = 1.0,
) -> StoryFinding:
    """Return a finding whose id follows from what it says and where, not from its neighbours."""
    shown = tuple(quotes)
    if not shown:
        raise ValueError(f"The finding {kind!r} of {tool} rests on no quote")
    told = [tool, kind, message, *([q.path, q.line_start, q.text] for q in shown)]
    return StoryFinding(
        id=f"fnd_{digest(told)[:12]}",
        type=kind,
        severity=severity,
        message=message,
        quotes=shown,
        suggestion=suggestion,
        confidence=confidence,
    )


def in_order(findings: Iterable[StoryFinding]) -> tuple[StoryFinding, ...]:
    """Return findings once each, the gravest and surest first, then by place."""
    once = {finding.id: finding for finding in findings}
    return tuple(
        sorted(
            once.values(),
            key=lambda each: (
                _RANK[each.severity],
                -round(each.confidence, 2),
                each.quotes[0].path,
                each.quotes[0].line_start,
                each.type,
                each.id,
            ),
        )
    )


def bundled(tool: str, findings: Sequence[StoryFinding]) -> tuple[StoryFinding, ...]:
    """Return findings with those of little weight that repeat themselves as one, with their number.

    Major ones are never put together.
    """
    groups: dict[tuple[str, Severity], list[StoryFinding]] = {}
    for each in findings:
        groups.setdefault((each.type, each.severity), []).append(each)
    kept: list[StoryFinding] = []
    for (kind, severity), alike in groups.items():
        if severity is Severity.MAJOR or len(alike) <= _ALIKE:
            kept.extend(alike)
            continue
        first = alike[0]
        kept.append(
            make_finding(
                tool,
                kind,
                severity,
                f"{len(alike)} findings of this kind. The first: {first.message}",
                [quote for each in alike[:3] for quote in each.quotes[:1]],
                suggestion=first.suggestion,
                confidence=first.confidence,
            )
        )
    return in_order(kept)


@dataclass(slots=True)
class ToolReport:
    """What a tool found, before it is a result.

    `headline` opens the summary; `details` are its lines after the findings.
    """

    tool: str
    preview: str
    payload: dict[str, Json]
    reads: Sequence[str] = ()
    findings: Sequence[StoryFinding] = ()
    has_findings: bool = True
    headline: str = ""
    # What was not read to its end: told among the warnings, and right below the headline.
    cut_short: Sequence[str] = ()
    details: list[str] = field(default_factory=list[str])


def finish(index: StoryIndex, limits: Thresholds, report: ToolReport) -> ToolResult:
    """Return a report as a tool result: payload, preview, summary and refs of what was read."""
    payload = dict(report.payload)
    findings = in_order(report.findings)
    if report.has_findings:
        payload["findings"] = [finding.to_json() for finding in findings]
    payload.setdefault("language_supported", language_supported(index, report.reads))
    payload["warnings"] = [*payload.get("warnings", []), *report.cut_short, *index.warnings]
    read = {
        index.document(path).file_path: index.file(path).sha256
        for path in report.reads
        if index.has(path)
    }
    refs = tuple(FileRef(path, sha256) for path, sha256 in read.items())
    return ToolResult(payload, report.preview, _summary(limits, report, findings), refs)


def language_supported(index: StoryIndex, paths: Iterable[str]) -> bool:
    """Say whether most of the words of some files are in files that look English."""
    english = other = 0
    for path in dict.fromkeys(paths):
        if index.has(path):
            document = index.document(path)
            if document.is_english:
                english += document.word_count
            else:
                other += document.word_count
    return english >= other


def plan(paths: Iterable[str]) -> DryRun:
    """Return what a dry run says: the files that would be read."""
    return DryRun(reads=tuple(dict.fromkeys(paths)))


def cite(quote: Quote, limit_chars: int = 240) -> str:
    """Return a quote as evidence lines write it, on one line: path, lines and the words.

    A long one is cut at a word; what is shown still stands in the file.
    """
    text = shorten_at_word(_SPACE.sub(" ", quote.text).strip(), limit_chars, " …")
    last = f"-{quote.line_end}" if quote.line_end != quote.line_start else ""
    return f'{quote.path} L{quote.line_start}{last} "{text}"'


def finding_lines(finding: StoryFinding, limit_chars: int = 240) -> list[str]:
    """Return a finding as summary lines: what, then each quote."""
    head = f"- [{finding.severity.value}] {finding.message}"
    if finding.suggestion:
        head += f" Suggestion: {finding.suggestion}"
    return [head, *(f"  {cite(quote, limit_chars)}" for quote in finding.quotes[:3])]


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 scene`, `2 scenes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _summary(limits: Thresholds, report: ToolReport, findings: Sequence[StoryFinding]) -> str:
    size = limits.summary
    lines = [report.headline or report.preview, *(f"- {told}." for told in report.cut_short)]
    if report.has_findings and not findings:
        lines.append("Findings: none.")
    elif findings:
        lines.append(f"Findings ({len(findings)}):")
        for finding in findings:
            lines += finding_lines(finding, size.max_quote_chars)
    return fit_summary("\n".join([*lines, *report.details]), size.max_chars)


def noticed(
    type: str,  # noqa: A002 - the word every finding uses for it
    severity: Severity,
    message: str,
    quotes: tuple[Quote, ...],
    suggestion: str = "",
    confidence: float = 1.0,
) -> StoryFinding:
    """Return a finding that has no id yet."""
    return StoryFinding("", type, severity, message, quotes, suggestion, confidence)


def identified(tool: str, findings: Iterable[StoryFinding]) -> tuple[StoryFinding, ...]:
    """Give findings the ids that follow from what they say."""
    return tuple(
        make_finding(
            tool,
            each.type,
            each.severity,
            each.message,
            each.quotes,
            suggestion=each.suggestion,
            confidence=each.confidence,
        )
        for each in findings
    )


def quotes_of(document: Document, sentences: Iterable[Sentence], limit: int) -> tuple[Quote, ...]:
    """Quote the first sentences of some, each once."""
    unique = {sentence.start: sentence for sentence in sentences}
    return tuple(document.quote(sentence) for sentence in islice(unique.values(), limit))


@dataclass(frozen=True, slots=True)
class SceneNames:
    """Every word of the names in a scene, and whom each word of a person's name means."""

    words: frozenset[str] = frozenset()
    people: dict[str, str] = field(default_factory=dict[str, str])


def scenes_asked_for(index: StoryIndex, paths: Sequence[str]) -> tuple[StoryFile, ...]:
    """Return the scenes of some paths in the order given, or all in story order."""
    if not paths:
        return index.scenes
    return tuple(file for path in dict.fromkeys(paths) for file in index.chapters_of(path))


def names_in(index: StoryIndex, path: str) -> SceneNames:
    """Collect the names of a scene, word by word, in lower case."""
    words: set[str] = set()
    people: dict[str, str] = {}
    for mention in index.mentions(path):
        parts = words_of(mention.surface)
        words.update(parts)
        if mention.entity.kind == "character" and parts:
            people[parts[-1]] = mention.entity.name
    return SceneNames(frozenset(words), people)


class PerDocument(Generic[T]):
    """A function of a document, computed once for each; a changed file is a new document."""

    def __init__(self, make: Callable[[Document], T]) -> None:
        """Take the function; it must depend on nothing but the document."""
        self._make = make
        self._lock = threading.Lock()
        self._made: WeakKeyDictionary[Document, T] = WeakKeyDictionary()

    def of(self, document: Document) -> T:
        """Return the function's value for a document."""
        with self._lock:
            if document in self._made:
                return self._made[document]
        # Two threads may both compute it; the value is the same and neither waits.
        value = self._make(document)
        with self._lock:
            return self._made.setdefault(document, value)

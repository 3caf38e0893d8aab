"""Citations: the sources an evidence line names, what they are checked against, back to text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol


class CitationKind(StrEnum):
    """What a source of an evidence line points at."""

    FILE_QUOTE = "file_quote"
    FILE_LINES = "file_lines"
    FILE_SECTION = "file_section"
    RECEIPT = "receipt"
    SLOT = "slot"
    SCOPE = "scope"
    ISSUE = "issue"


class EvidenceCode(StrEnum):
    """Why a reply is not grounded; each has one meaning."""

    EVIDENCE_MISSING = "evidence_missing"
    EVIDENCE_MULTIPLE = "evidence_multiple"
    EVIDENCE_UNPARSEABLE = "evidence_unparseable"
    EVIDENCE_SOURCE_ROLE = "evidence_source_role"
    EVIDENCE_BESIDE = "evidence_beside_the_point"
    FILE_NOT_FOUND = "file_not_found"
    QUOTE_NOT_FOUND = "quote_not_found"
    LINE_OUT_OF_RANGE = "line_out_of_range"
    SECTION_NOT_FOUND = "section_not_found"
    SLOT_NOT_VISIBLE = "slot_not_visible"
    RECEIPT_MISSING = "receipt_missing"
    RECEIPT_UNKNOWN = "receipt_unknown"
    RECEIPT_FOREIGN_SESSION = "receipt_foreign_session"
    RECEIPT_SIGNATURE_INVALID = "receipt_signature_invalid"
    ISSUE_UNKNOWN = "issue_unknown"
    COT_LEAK = "cot_leak"
    TOOL_SYNTAX = "tool_syntax"


@dataclass(frozen=True, slots=True)
class Citation:
    """One source of an evidence line.

    `source` is a path, a receipt id, a slot's name, an issue's number, or what a scope says was
    checked. A file may be cited by quote and by lines at once; then the quote stands on them.
    """

    kind: CitationKind
    source: str
    quote: str = ""
    lines: tuple[int, int] | None = None
    heading: str = ""


_NEEDS_QUOTES: Final = re.compile(r"[;§]|\s['\u2018L]|^L[0-9]|^[\s\-_#(\[]|[-,:]$")


def render_citation(citation: Citation) -> str:
    """Return one source of an evidence line."""
    match citation.kind:
        case CitationKind.RECEIPT:
            return f"receipt_id: {citation.source}"
        case CitationKind.ISSUE:
            return f"issue:#{citation.source}"
        case CitationKind.SCOPE:
            return f"scope: checked {citation.source}"
        case CitationKind.SLOT:
            return f"slot:{citation.source} {_quoted(citation.quote)}"
        case CitationKind.FILE_SECTION:
            return f"{_path(citation.source)} § {citation.heading}"
        case CitationKind.FILE_LINES | CitationKind.FILE_QUOTE:
            parts = [_path(citation.source)]
            if citation.lines is not None:
                parts.append(_lines(*citation.lines))
            if citation.quote:
                parts.append(_quoted(citation.quote))
            return " ".join(parts)


def render_evidence_line(citations: Sequence[Citation]) -> str:
    """Return the evidence line of a reply."""
    return "Evidence: " + "; ".join(render_citation(each) for each in citations)


def _path(path: str) -> str:
    # A bare word would not be taken for a path, nor a name in which a place seems to begin.
    shown = path if "/" in path or "." in path else f"./{path}"
    return f'"{shown}"' if _NEEDS_QUOTES.search(shown) else shown


def _lines(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"


def _quoted(text: str) -> str:
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the project as it is now, and what kind of file it is to the pack."""

    path: str
    text: str
    kind: str = "other"


@dataclass(frozen=True, slots=True)
class SourceReceipt:
    """What a citation needs to know of a receipt.

    `told` is what the tool found, in words; None if it found nothing that a claim could be about.
    """

    id: str
    tool: str
    session_id: str
    is_signature_valid: bool = True
    has_succeeded: bool = True
    told: str | None = None


class Sources(Protocol):
    """Everything a reply may cite; what it may not is not there."""

    @property
    def session_id(self) -> str:
        """The session whose receipts may be cited."""
        ...

    def file(self, path: str) -> SourceFile | None:
        """Return a file of the project; a path that leads out of it is not there."""
        ...

    def slot(self, name: str) -> str | None:
        """Return the text of a slot the agent was shown."""
        ...

    def receipt(self, receipt_id: str) -> SourceReceipt | None:
        """Return a receipt of any session."""
        ...

    def has_issue(self, number: int) -> bool:
        """Say whether there is such an issue."""
        ...

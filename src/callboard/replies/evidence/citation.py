"""Citations: the sources an evidence line names, and every reason for which one is refused."""

from dataclasses import dataclass
from enum import StrEnum


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

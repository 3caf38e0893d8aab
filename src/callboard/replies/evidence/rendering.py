"""Citations back to text: what is rendered here is read and found again."""

import re
from collections.abc import Sequence
from typing import Final

from callboard.replies.evidence.citation import Citation, CitationKind

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

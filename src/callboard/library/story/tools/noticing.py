"""Noticing: findings as the parts of an analysis make them, before they have ids."""

from collections.abc import Iterable
from itertools import islice

from callboard.library.story.model import Finding, Quote, Severity
from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.tools.frame import make_finding


def noticed(
    type: str,  # noqa: A002 - the word every finding uses for it
    severity: Severity,
    message: str,
    quotes: tuple[Quote, ...],
    suggestion: str = "",
    confidence: float = 1.0,
) -> Finding:
    """Return a finding that has no id yet."""
    return Finding("", type, severity, message, quotes, suggestion, confidence)


def identified(tool: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
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

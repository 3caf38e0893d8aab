"""Evidence: what a reply cites, checked by code against files, slots, receipts and issues."""

from callboard.replies.evidence.bearing import answers, bears_on, keys_of
from callboard.replies.evidence.candidates import (
    EvidenceCandidate,
    EvidenceMaterial,
    SourcePassage,
    find_candidates,
    quotable_sentences,
)
from callboard.replies.evidence.check import (
    EvidenceVerdict,
    check_reply,
    checked_sources,
    verdict_from_json,
    verdict_to_json,
)
from callboard.replies.evidence.citation import (
    Citation,
    CitationKind,
    EvidenceCode,
    SourceFile,
    SourceReceipt,
    Sources,
    render_citation,
    render_evidence_line,
)
from callboard.replies.evidence.cutting import ABSTAIN, CutReply, cut_reply
from callboard.replies.evidence.grammar import EvidenceSyntaxError, parse_sources
from callboard.replies.evidence.quotes import holds_quote, is_quotable, normalise
from callboard.replies.evidence.rules import SLOT, EvidenceRules, InvalidEvidenceRules, SourceClass
from callboard.replies.evidence.verifying import CheckedCitation, verify

__all__ = [
    "ABSTAIN",
    "SLOT",
    "CheckedCitation",
    "Citation",
    "CitationKind",
    "CutReply",
    "EvidenceCandidate",
    "EvidenceCode",
    "EvidenceMaterial",
    "EvidenceRules",
    "EvidenceSyntaxError",
    "EvidenceVerdict",
    "InvalidEvidenceRules",
    "SourceClass",
    "SourceFile",
    "SourcePassage",
    "SourceReceipt",
    "Sources",
    "answers",
    "bears_on",
    "check_reply",
    "checked_sources",
    "cut_reply",
    "find_candidates",
    "holds_quote",
    "is_quotable",
    "keys_of",
    "normalise",
    "parse_sources",
    "quotable_sentences",
    "render_citation",
    "render_evidence_line",
    "verdict_from_json",
    "verdict_to_json",
    "verify",
]

"""Verdicts as JSON: what a journal keeps of them, and back."""

from typing import Any

from callboard.core.canonical import Json
from callboard.replies.evidence.check import Verdict
from callboard.replies.evidence.citation import Citation, CitationKind, EvidenceCode
from callboard.replies.evidence.verifying import Checked


def verdict_to_json(verdict: Verdict) -> dict[str, Json]:
    """Return all of a verdict."""
    return {
        "accepted": verdict.accepted,
        "abstained": verdict.abstained,
        "codes": list(verdict.codes),
        "detail": verdict.detail,
        "body": verdict.body,
        "evidence": verdict.evidence,
        "sources": checked_sources(verdict),
    }


def verdict_from_json(data: dict[str, Any]) -> Verdict:
    """Read that shape."""
    return Verdict(
        accepted=data["accepted"],
        codes=tuple(data["codes"]),
        detail=data["detail"],
        checks=tuple(_checked(each) for each in data["sources"]),
        body=data["body"],
        evidence=data["evidence"],
        abstained=data["abstained"],
    )


def checked_sources(verdict: Verdict) -> list[dict[str, Json]]:
    """Return what was looked up and what was found."""
    return [_source(each) for each in verdict.checks]


def _source(checked: Checked) -> dict[str, Json]:
    citation = checked.citation
    every: dict[str, Json] = {
        "kind": citation.kind.value,
        "source": citation.source,
        "quote": citation.quote or None,
        "lines": list(citation.lines) if citation.lines is not None else None,
        "heading": citation.heading or None,
        "holds": checked.holds,
        "code": checked.code.value if checked.code is not None else None,
        "detail": checked.detail or None,
        "origin": checked.origin or None,
    }
    return {name: value for name, value in every.items() if value is not None}


def _checked(data: dict[str, Any]) -> Checked:
    lines = data.get("lines")
    return Checked(
        Citation(
            CitationKind(data["kind"]),
            data["source"],
            data.get("quote", ""),
            (lines[0], lines[1]) if lines else None,
            data.get("heading", ""),
        ),
        EvidenceCode(data["code"]) if "code" in data else None,
        data.get("detail", ""),
        data.get("origin", ""),
    )

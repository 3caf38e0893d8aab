"""The check of a reply: exactly one evidence line whose sources hold and befit the role.

Verdicts as JSON are what a journal keeps of it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from callboard.core.canonical import Json
from callboard.replies.evidence.citation import Citation, CitationKind, EvidenceCode, Sources
from callboard.replies.evidence.cutting import CutReply, cut_reply, thinks_aloud, tool_call_in
from callboard.replies.evidence.grammar import EvidenceSyntaxError, parse_sources
from callboard.replies.evidence.rules import EvidenceRules
from callboard.replies.evidence.verifying import CheckedCitation, bears, verify


@dataclass(frozen=True, slots=True)
class EvidenceVerdict:
    """What became of a reply.

    `body` is the reply without thinking and evidence lines, `evidence` what its evidence line
    says. An abstention is accepted and needs no evidence.
    """

    accepted: bool
    codes: tuple[str, ...] = ()
    detail: str = ""
    checks: tuple[CheckedCitation, ...] = field(default=())
    body: str = ""
    evidence: str = ""
    abstained: bool = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The sources the reply names, as far as they could be read."""
        return tuple(each.citation for each in self.checks)

    @property
    def code(self) -> str:
        """The first reason for which the reply was refused, or nothing."""
        return self.codes[0] if self.codes else ""


def check_reply(
    text: str,
    *,
    role: str,
    rules: EvidenceRules,
    sources: Sources,
    tool_ids: Collection[str] = (),
    must_bear: bool = False,
) -> EvidenceVerdict:
    """Judge a reply of a role; never raises for what a model may have written.

    With `must_bear` one of its sources must be about what it says, not only stand somewhere.
    """
    cut = cut_reply(text)
    if cut.is_abstention:
        return EvidenceVerdict(accepted=True, abstained=True)
    judging = _Judging(cut, must_bear=must_bear)
    judging.look_at_evidence(role, rules, sources, tool_ids)
    judging.look_at_body(tool_ids)
    return judging.verdict()


class _Judging:
    def __init__(self, cut: CutReply, *, must_bear: bool) -> None:
        self.cut = cut
        self.must_bear = must_bear
        self.problems: list[tuple[EvidenceCode, str]] = []
        self.checks: tuple[CheckedCitation, ...] = ()

    def refuse(self, code: EvidenceCode, detail: str) -> None:
        self.problems.append((code, detail))

    def look_at_evidence(
        self, role: str, rules: EvidenceRules, sources: Sources, tool_ids: Collection[str]
    ) -> None:
        lines = self.cut.evidence
        if len(lines) > 1:
            self.refuse(
                EvidenceCode.EVIDENCE_MULTIPLE, f"the reply has {len(lines)} `Evidence:` lines"
            )
            return
        for line in lines:
            try:
                citations = parse_sources(line, tool_ids)
            except EvidenceSyntaxError as error:
                self.refuse(error.code, error.detail)
                return
            self.checks = tuple(verify(each, sources) for each in citations)
            self.judge_sources(role, rules)
        if not lines:
            self.refuse(EvidenceCode.EVIDENCE_MISSING, "the reply has no `Evidence:` line")

    def judge_sources(self, role: str, rules: EvidenceRules) -> None:
        for each in self.checks:
            if each.code is not None:
                self.refuse(each.code, each.detail)
        # What could not be found is the reason then, not which role cited it.
        if self.problems:
            return
        if not rules.is_satisfied(role, _standing(self.checks)):
            failed = "; ".join(each.detail for each in self.checks if each.detail)
            remark = f" ({failed})" if failed else ""
            self.refuse(
                EvidenceCode.EVIDENCE_SOURCE_ROLE,
                f"a {role} rests on {rules.wish(role)}{remark}",
            )
        elif self.must_bear and not any(bears(self.cut.body, each) for each in self.checks):
            self.refuse(
                EvidenceCode.EVIDENCE_BESIDE,
                "what is cited is not about what is said: name in the answer whom or what the"
                " source speaks of, and what it says",
            )

    def look_at_body(self, tool_ids: Collection[str]) -> None:
        if self.cut.leaks_thinking or thinks_aloud(self.cut.body):
            self.refuse(EvidenceCode.COT_LEAK, "the reply thinks aloud before it answers")
        call = tool_call_in(self.cut.body, tool_ids)
        if call is not None:
            self.refuse(EvidenceCode.TOOL_SYNTAX, f"the reply writes out a tool call: {call}")

    def verdict(self) -> EvidenceVerdict:
        codes = dict.fromkeys(code.value for code, _ in self.problems)
        return EvidenceVerdict(
            accepted=not self.problems,
            codes=tuple(codes),
            detail="; ".join(detail for _, detail in self.problems),
            checks=self.checks,
            body=self.cut.body,
            evidence="; ".join(self.cut.evidence),
        )


def _standing(checks: Sequence[CheckedCitation]) -> list[tuple[Citation, str]]:
    return [(each.citation, each.origin) for each in checks if each.holds and each.origin]


def verdict_to_json(verdict: EvidenceVerdict) -> dict[str, Json]:
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


def verdict_from_json(data: dict[str, Any]) -> EvidenceVerdict:
    """Read that shape."""
    return EvidenceVerdict(
        accepted=data["accepted"],
        codes=tuple(data["codes"]),
        detail=data["detail"],
        checks=tuple(_checked(each) for each in data["sources"]),
        body=data["body"],
        evidence=data["evidence"],
        abstained=data["abstained"],
    )


def checked_sources(verdict: EvidenceVerdict) -> list[dict[str, Json]]:
    """Return what was looked up and what was found."""
    return [_source(each) for each in verdict.checks]


def _source(checked: CheckedCitation) -> dict[str, Json]:
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


def _checked(data: dict[str, Any]) -> CheckedCitation:
    lines = data.get("lines")
    return CheckedCitation(
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

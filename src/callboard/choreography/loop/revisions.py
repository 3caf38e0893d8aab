"""Revision requests: what a report or a role wants to be done again, and by which step."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from callboard.choreography.loop.definition import Loop, LoopStep, Stability
from callboard.core.canonical import Json

Severity = Literal["must", "should"]


@dataclass(frozen=True, slots=True)
class RevisionRequest:
    """Somebody wants earlier work done again; only a `must` keeps a loop from being stable."""

    id: str
    requested_by: str
    target_step: str
    reason: str
    severity: Severity = "must"
    artifact: str = ""
    status: Literal["open", "applied", "dismissed"] = "open"
    # Why it was dismissed, or what made it void.
    answer: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered it."""
        return self.status == "open"

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)


def requests_in(
    loop: Loop,
    step: LoopStep,
    rests_on: Sequence[LoopStep],
    contents: Mapping[str, Json],
    known: int,
) -> list[RevisionRequest]:
    """Return what a gate's report or a look at earlier work wants to be done again.

    A gate says so in `remediation`, which is a must if it blocks; any other report by the verdict
    `revise`, which is a must if one of its findings is major or it names none. `rests_on` are the
    steps that can be asked; `known` is how many requests there are already.
    """
    found: list[RevisionRequest] = []
    for kind, content in contents.items():
        if not isinstance(content, dict):
            continue
        report = cast("dict[str, Any]", content)
        if step.gate:
            severity: Severity = "must" if is_block(loop, report) else "should"
            rows: list[Any] = report.get("remediation") or []
        elif report.get("verdict") == "revise":
            rows = report.get("findings") or [{}]
            is_major = any(each.get("severity", "major") == "major" for each in rows)
            severity = "must" if is_major else "should"
        else:
            continue
        for row in rows:
            target = target_of(step, rests_on, row)
            told = _reason(kind, row)
            number = known + len(found) + 1
            found.append(RevisionRequest(f"R{number}", step.id, target, told, severity, kind))
    return found


def is_block(loop: Loop, report: Mapping[str, Any]) -> bool:
    """Say whether a gate's report stops the loop; where its word is all that is wanted, never."""
    return report.get("decision") == "block" and loop.stability is Stability.GATEKEEPER_APPROVED


def _reason(kind: str, row: Mapping[str, Any]) -> str:
    said = [row.get(name) for name in ("fix", "suggestion", "reason", "tag")]
    return next((str(each) for each in said if each), f"{kind} asks for another pass")


def target_of(step: LoopStep, rests_on: Sequence[LoopStep], row: Mapping[str, Any]) -> str:
    """Return the step that has to revise: the one named, else the owner's, else the first."""
    named = str(row.get("target_step") or "")
    owner = row.get("owner_role")
    for each in rests_on:
        if named and (each.id == named or each.id.startswith(f"{named}_")):
            return each.id
    owned = [each.id for each in rests_on if owner in each.roles]
    return (*owned, *(each.id for each in rests_on), step.id)[0]

"""Issue: what a failed check, a finding, a proposal or a transcript leaves for the human."""

from dataclasses import dataclass
from enum import StrEnum


class IssueKind(StrEnum):
    """What left the issue behind."""

    FAILED_CHECK = "failed_check"
    FINDING = "finding"
    PROPOSAL = "proposal"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class Issue:
    """Something the human should look at."""

    id: str
    kind: IssueKind
    title: str
    body: str = ""
    is_open: bool = True
    session_id: str | None = None
    run_id: str | None = None
    receipt_ids: tuple[str, ...] = ()
    created_at: int = 0

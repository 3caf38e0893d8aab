"""Issue: what a failed check, a finding, a proposal or a transcript leaves for the human."""

from dataclasses import dataclass
from enum import StrEnum


class IssueKind(StrEnum):
    """What left the issue behind; a note is the human's own."""

    DOD_FAILURE = "dod_failure"
    FINDING = "finding"
    PROPOSAL = "proposal"
    TRANSCRIPT = "transcript"
    NOTE = "note"


class IssueStatus(StrEnum):
    """Whether the human is done with it."""

    OPEN = "open"
    CLOSED = "closed"


class IssuePriority(StrEnum):
    """How soon the human should look."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class IssueSource:
    """Where an issue comes from; `step_id` is the key of the step that left it."""

    kind: IssueKind
    run_id: str | None = None
    session_id: str | None = None
    step_id: str | None = None


@dataclass(frozen=True, slots=True)
class IssueDraft:
    """An issue before it has a number; the same `key` never makes a second one."""

    title: str
    source: IssueSource
    body: str = ""
    priority: IssuePriority = IssuePriority.NORMAL
    tags: tuple[str, ...] = ()
    receipt_ids: tuple[str, ...] = ()
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """Something the human should look at, under a number of its own in the project."""

    id: int
    title: str
    source: IssueSource
    body: str = ""
    status: IssueStatus = IssueStatus.OPEN
    priority: IssuePriority = IssuePriority.NORMAL
    tags: tuple[str, ...] = ()
    receipt_ids: tuple[str, ...] = ()
    created_at: int = 0
    updated_at: int = 0

"""Session: an isolated line of work in a project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json


class SessionState(StrEnum):
    """`created → active ⇄ suspended → completed`; active may also fail."""

    CREATED = "created"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"


SESSION_TRANSITIONS: Final[Mapping[SessionState, frozenset[SessionState]]] = {
    SessionState.CREATED: frozenset({SessionState.ACTIVE}),
    SessionState.ACTIVE: frozenset(
        {SessionState.SUSPENDED, SessionState.COMPLETED, SessionState.FAILED}
    ),
    SessionState.SUSPENDED: frozenset({SessionState.ACTIVE, SessionState.COMPLETED}),
    SessionState.COMPLETED: frozenset(),
    SessionState.FAILED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the store holds it."""

    id: str
    name: str
    state: SessionState
    context: dict[str, Json] = field(default_factory=dict[str, Json])
    summary: str = ""
    created_at: int = 0
    activated_at: int | None = None
    suspended_at: int | None = None
    completed_at: int | None = None
    last_active_at: int = 0

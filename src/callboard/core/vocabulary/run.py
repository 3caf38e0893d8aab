"""Run: one durable execution of a choreography."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord


class RunState(StrEnum):
    """`pending → running ⇄ waiting|paused → done | failed | cancelled`."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL_STATES: Final = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED})


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as the journal holds it.

    A retry or a fork has a `parent_id` and shares the parent's steps up to and including
    `parent_seq`.
    """

    id: str
    session_id: str
    choreography: str
    state: RunState
    title: str = ""
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    result: Json = None
    error: ErrorRecord | None = None
    parent_id: str | None = None
    parent_seq: int = 0
    origin: str = "start"
    owner: str | None = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def is_terminal(self) -> bool:
        """Whether the run can never change again."""
        return self.state in TERMINAL_STATES

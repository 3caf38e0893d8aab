"""StepScope: what the function of a step may say about itself besides its result."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from callboard.core.canonical import Json
from callboard.store.connection import Connection


@dataclass(slots=True)
class StepScope:
    """Given to a step's function while it executes.

    What is put here is committed together with the step's record, or not at all. `in_doubt` says
    of a `once` step that failed whether its effect may have taken place all the same; where nobody
    says, it may have, unless the error is a refusal by its kind.
    """

    run_id: str
    key: str
    receipt_id: str | None = None
    preview: str | None = None
    in_doubt: bool | None = None
    detail: dict[str, Json] = field(default_factory=dict[str, Json])
    companions: list[Callable[[Connection], Any]] = field(
        default_factory=list[Callable[[Connection], Any]]
    )

    def commit_with(self, work: Callable[[Connection], Any]) -> None:
        """Add a write to the transaction that records the step, whether it succeeds or fails."""
        self.companions.append(work)


@dataclass(frozen=True, slots=True)
class Happened:
    """A probe found that the interrupted effect took place."""

    value: Json = None


@dataclass(frozen=True, slots=True)
class NotHappened:
    """A probe found that the interrupted effect did not take place."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """A probe could not find out; the human decides."""


Finding = Happened | NotHappened | CannotTell

"""Scopes: what a step may say about itself, and what every live run has around it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from callboard.core.canonical import Json
from callboard.core.classify import Classifier
from callboard.core.clock import Clock
from callboard.core.events import Event
from callboard.core.ids import IdMaker
from callboard.core.tracing import NoTracer, Tracer
from callboard.core.vocabulary.run import Effect, StepKind
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.faults import FaultPoints, NoFaults


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


@dataclass(slots=True)
class StepPlan:
    """A step that a choreography asks for."""

    key: str
    act: Callable[[StepScope], Awaitable[Json]]
    input_hash: str
    kind: StepKind
    effect: Effect
    slot: str | None
    # Looks before the intent is stored; what it saw is stored with it and given to the probe.
    observe: Callable[[], Awaitable[Json]] | None
    probe: Callable[[Json], Awaitable[Finding]] | None
    confirm: Callable[[StepScope, Json], Awaitable[Json]] | None

    @property
    def may_touch(self) -> bool:
        """Whether it may change something outside as soon as it begins.

        An agent's step only reads before its request is sent, and the gate waits by itself. A tool
        is somebody else's code, and says that it is pure by saying nothing.
        """
        if self.kind is StepKind.TOOL:
            return True
        return self.effect is Effect.IDEMPOTENT and self.kind is not StepKind.AGENT


Body = Callable[[Any], Awaitable[Json]]
"""What is executed: a function of a `Run`, which is not named here because it stands on this."""
Resolve = Callable[[str], Body]


@dataclass(slots=True)
class Backstage:
    """The surroundings of live runs.

    `resolve` turns a choreography's name into the function to execute. `settled` is called with
    run id and session id, on the event loop, when a run changed state or at most once a second
    while it works.
    """

    database: Database
    ids: IdMaker
    clock: Clock
    resolve: Resolve
    classifier: Classifier = field(default_factory=Classifier)
    faults: FaultPoints = field(default_factory=NoFaults)
    trace: Tracer = field(default_factory=NoTracer)
    settled: Callable[[str, str], None] = lambda _run, _session: None
    live_listeners: list[Callable[[Event], None]] = field(
        default_factory=list[Callable[[Event], None]]
    )

    def broadcast(self, event: Event) -> None:
        """Show an event that is not stored to whoever listens in this process."""
        for listener in self.live_listeners:
            listener(event)

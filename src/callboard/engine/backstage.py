"""What every live run needs from its surroundings, gathered once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from callboard.core.canonical import Json
from callboard.core.classify import Classifier
from callboard.core.clock import Clock
from callboard.core.events import Event
from callboard.core.ids import IdMaker
from callboard.core.tracing import NoTracer, Tracer
from callboard.store.database import Database
from callboard.store.faults import FaultPoints, NoFaults

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

"""Closing a circuit by hand, whoever else has the project open."""

from functools import partial
from pathlib import Path

from callboard.cli import exits
from callboard.cli.bridge import perform_simply
from callboard.cli.output import echo, echo_json
from callboard.cli.reading import reading
from callboard.cli.reports.traffic import circuit_shape
from callboard.core.breaker import Breaker, CircuitState
from callboard.core.clock import SystemClock
from callboard.core.errors import NotFound
from callboard.core.events import EventBody
from callboard.models.traffic.shared_breakers import SharedBreakers, list_breakers
from callboard.models.types import ModelRequest
from callboard.store.database import Database
from callboard.store.journal.events import append_event


def reset_circuit(project: Path | None, provider: str, *, as_json: bool) -> int:
    """Close the circuit of a provider and print what it was."""
    resource = provider if ":" in provider else f"llm:{provider}"
    with reading(project) as journal:
        known = [each.resource for each in journal.read_or([], list_breakers)]
        if resource not in known:
            names = ", ".join(each.removeprefix("llm:") for each in known) or "none"
            raise NotFound(
                f"No circuit of {provider!r} is known here; nothing was changed.",
                fix=f"Known are: {names}. See `callboard models status`.",
                resource=resource,
            )
        before = perform_simply(_reset(journal.database, resource))
    if as_json:
        echo_json({"was": circuit_shape(resource, before), "state": CircuitState.CLOSED.value})
    elif before.state is CircuitState.CLOSED:
        echo(f"Calls to {provider} passed already; what had failed is forgotten.")
    else:
        echo(f"Calls to {provider} pass again.")
    return exits.OK


async def _reset(database: Database, resource: str) -> Breaker:
    clock = SystemClock()

    def keep(body: EventBody, _request: ModelRequest | None) -> None:
        # Committed at the latest when the database is closed.
        database.submit(partial(append_event, body=body, at=clock.now_ms()))

    return await SharedBreakers(database, clock=clock, notify=keep).reset(resource)

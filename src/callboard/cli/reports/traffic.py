"""The state of the traffic to providers: circuits and pauses, and a circuit closed by hand."""

import time
from dataclasses import dataclass
from pathlib import Path

from callboard.cli.output import echo, echo_json, echo_table, moment, seconds
from callboard.cli.reading import OpenJournal, reading
from callboard.core.breaker import Breaker, CircuitState
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.models.traffic.limit_state import Credential
from callboard.models.traffic.shared_breakers import StoredBreaker, list_breakers
from callboard.models.traffic.shared_pauses import PauseRow, load_pauses
from callboard.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Traffic:
    """All circuits, and the pauses in force."""

    circuits: list[StoredBreaker]
    pauses: list[PauseRow]


def traffic_report(journal: OpenJournal, *, as_json: bool) -> None:
    """Print circuits and pauses."""
    now_ms = time.time_ns() // 1_000_000

    def look(connection: Connection) -> Traffic:
        pauses = [
            each
            for each in load_pauses(connection)
            if each.resumed_at is None and each.resume_at > now_ms
        ]
        return Traffic(list_breakers(connection), pauses)

    traffic = journal.read_or(Traffic([], []), look)
    if as_json:
        circuits = [circuit_shape(each.resource, each.breaker) for each in traffic.circuits]
        echo_json({"circuits": circuits, "pauses": [_pause_shape(each) for each in traffic.pauses]})
        return
    if not traffic.circuits and not traffic.pauses:
        echo("No provider has been asked in this project yet.")
        return
    rows = [_row(each.resource, each.breaker, now_ms) for each in traffic.circuits]
    echo_table(("RESOURCE", "CIRCUIT", "FAILURES IN A ROW", "FAILED OF LAST", "TRIED AGAIN"), rows)
    for pause in traffic.pauses:
        left = seconds(pause.resume_at - now_ms)
        label = Credential.from_key(pause.credential).label
        echo(f"\n{label} is paused for another {left}: {pause.reason}")


def circuit_shape(resource: str, breaker: Breaker) -> dict[str, Json]:
    """Return a circuit as JSON."""
    return {
        "resource": resource,
        "state": breaker.state.value,
        "failures_in_a_row": breaker.failures,
        "failed_results": sum(breaker.window),
        "results": len(breaker.window),
        "changed_at": breaker.changed_at_ms or None,
        "failed_at": breaker.failed_at_ms,
        "retry_at": breaker.cooldown_until_ms,
    }


def _row(resource: str, breaker: Breaker, now_ms: int) -> tuple[str, ...]:
    again = ""
    if breaker.state is CircuitState.HALF_OPEN:
        again = "is being tried out"
    elif breaker.state is CircuitState.OPEN:
        until = breaker.cooldown_until_ms or 0
        again = f"at {moment(until)}" if until > now_ms else "by the next call"
    judged = f"{sum(breaker.window)} of {len(breaker.window)}"
    state = breaker.state.value.replace("_", " ")
    return resource, state, str(breaker.failures), judged, again


def _pause_shape(pause: PauseRow) -> dict[str, Json]:
    credential = Credential.from_key(pause.credential)
    return {
        "provider": credential.provider,
        "credential": credential.label,
        "attempt": pause.attempt,
        "paused_at": pause.paused_at,
        "resume_at": pause.resume_at,
        "reason": pause.reason,
    }


def find_circuit(project: Path | None, provider: str) -> str:
    """Return the circuit of a provider, if one is known here."""
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
    return resource


def tell_reset(provider: str, resource: str, before: Breaker, *, as_json: bool) -> None:
    """Say what a circuit was that is closed now."""
    if as_json:
        echo_json({"was": circuit_shape(resource, before), "state": CircuitState.CLOSED.value})
    elif before.state is CircuitState.CLOSED:
        echo(f"Calls to {provider} passed already; what had failed is forgotten.")
    else:
        echo(f"Calls to {provider} pass again.")

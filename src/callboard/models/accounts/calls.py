"""Rows of calls: every call of a provider, who made it, what it took and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from callboard.models.accounts.amounts import Amounts
from callboard.models.accounts.scopes import SPENDER_COLUMNS, Scope, Spender
from callboard.models.types import Usage
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of


class CallOutcome(StrEnum):
    """How a call ended."""

    OK = "ok"
    ABORTED = "aborted"
    PREEMPTED = "preempted"
    ERROR = "error"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a provider.

    `requests` is 0 when the provider was never reached. `is_estimated` says that the tokens were
    counted here because the provider did not tell. `attempt` 0 means: count the earlier calls for
    the same prompt.
    """

    id: str
    at: int
    spender: Spender
    outcome: CallOutcome
    usage: Usage = field(default_factory=Usage)
    microusd: int | None = None
    requests: int = 1
    is_estimated: bool = False
    latency_ms: int = 0
    first_token_ms: int | None = None
    error_code: str | None = None
    attempt: int = 0
    switched_from: str | None = None

    @property
    def amounts(self) -> Amounts:
        """What the call takes from a budget."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        return Amounts(self.microusd or 0, tokens, self.requests, self.latency_ms)


_COLUMNS: Final = (
    "id",
    "at",
    *SPENDER_COLUMNS,
    "requests",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "is_estimated",
    "microusd",
    "latency_ms",
    "first_token_ms",
    "outcome",
    "error_code",
    "attempt",
    "switched_from",
)
_INSERT: Final = (
    f"INSERT INTO calls ({', '.join(_COLUMNS)})"  # noqa: S608 - literals
    f" VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)


def insert_call(connection: Connection, call: CallRecord) -> CallRecord:
    """Store a call and return it with its number among the attempts for its prompt."""
    placed = call if call.attempt else _placed(connection, call)
    usage = placed.usage
    connection.execute(
        _INSERT,
        {
            "id": placed.id,
            "at": placed.at,
            **placed.spender.columns(),
            "requests": placed.requests,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "is_estimated": int(placed.is_estimated),
            "microusd": placed.microusd,
            "latency_ms": placed.latency_ms,
            "first_token_ms": placed.first_token_ms,
            "outcome": placed.outcome.value,
            "error_code": placed.error_code,
            "attempt": placed.attempt,
            "switched_from": placed.switched_from,
        },
    )
    return placed


def is_on_record(connection: Connection, call_id: str) -> bool:
    """Say whether a call has been stored."""
    found = connection.execute("SELECT 1 FROM calls WHERE id = :id", {"id": call_id})
    return found.fetchone() is not None


def _placed(connection: Connection, call: CallRecord) -> CallRecord:
    """Find the call's place among the earlier ones for its prompt, and the model first asked."""
    if call.spender.prompt_id is None:
        return replace(call, attempt=1)
    earlier = [
        row["model"]
        for row in connection.execute(
            "SELECT model FROM calls WHERE prompt_id = :prompt_id ORDER BY at, id",
            {"prompt_id": call.spender.prompt_id},
        )
    ]
    first = earlier[0] if earlier and earlier[0] != call.spender.model else None
    return replace(call, attempt=len(earlier) + 1, switched_from=call.switched_from or first)


def list_calls(
    connection: Connection, *, condition: str = "1 = 1", params: Mapping[str, Any] | None = None
) -> list[CallRecord]:
    """Return the calls that fulfil an SQL condition, oldest first."""
    rows = connection.execute(
        f"SELECT * FROM calls WHERE {condition} ORDER BY at, id",  # noqa: S608 - our own conditions
        params or {},
    )
    return [_record(row) for row in rows]


def spent_by(connection: Connection, scope: Scope, since: int = 0, session_id: str = "") -> Amounts:
    """Add up what a scope's calls took since a time, in all sessions or in one."""
    condition, params = scope.where()
    row = connection.execute(
        "SELECT COALESCE(SUM(microusd), 0) AS microusd,"  # noqa: S608 - a literal condition
        " COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens,"
        " COALESCE(SUM(requests), 0) AS calls, COALESCE(SUM(latency_ms), 0) AS ms"
        f" FROM calls WHERE {condition} AND at >= :since"
        " AND (:session = '' OR session_id = :session)",
        {**params, "since": since, "session": session_id},
    ).fetchone()
    return Amounts(row["microusd"], row["tokens"], row["calls"], row["ms"])


@row_of("calls", "id")
def _record(row: Any) -> CallRecord:
    return CallRecord(
        id=row["id"],
        at=row["at"],
        spender=Spender.from_row(row),
        outcome=CallOutcome(row["outcome"]),
        usage=Usage(row["input_tokens"], row["output_tokens"], row["cached_tokens"]),
        microusd=row["microusd"],
        requests=row["requests"],
        is_estimated=bool(row["is_estimated"]),
        latency_ms=row["latency_ms"],
        first_token_ms=row["first_token_ms"],
        error_code=row["error_code"],
        attempt=row["attempt"],
        switched_from=row["switched_from"],
    )

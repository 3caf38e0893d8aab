"""Fair shares: what of a provider's plan one session may use while others are at work as well.

Holds for sessions nobody has given a budget of their own. A session that works alone may use
everything a plan has left.
"""

from callboard.models.accounts.amounts import Amounts, Dimension, Limits
from callboard.models.accounts.subscriptions import Subscription, fair_limits, status_of
from callboard.store.connection import Connection


def count_active(connection: Connection, session_id: str) -> int:
    """Return how many sessions are at work: those with a run under way, and the one that asks."""
    row = connection.execute(
        "SELECT COUNT(DISTINCT session_id) AS others FROM runs"
        " WHERE state IN ('pending', 'running') AND session_id <> :session",
        {"session": session_id},
    ).fetchone()
    return int(row["others"]) + 1


def share_of(
    connection: Connection, plan: Subscription, now_ms: int, session_id: str, active: int
) -> tuple[Limits, Amounts]:
    """Return what a session may use of a plan in this period in all, and what it has used."""
    left = fair_limits([status_of(connection, plan, now_ms)], active)
    used = status_of(connection, plan, now_ms, session_id).used
    return Limits(*(_in_all(left, used, dimension) for dimension in Dimension)), used


def _in_all(left: Limits, used: Amounts, dimension: Dimension) -> int | None:
    share: int | None = getattr(left, dimension.value)
    # A share of nothing must not turn into no limit.
    return None if share is None else max(1, share + used.of(dimension))

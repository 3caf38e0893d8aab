"""The moment of a write: who writes, when, and through what."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from callboard.choreography.turn.domain import Who
from callboard.library.relational.filters.dates import Today

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Moment:
    """Who writes, when, and through what."""

    who: Who
    connection: "Connection"
    today: Today
    # Said to the user afterwards; everybody on the way may add to it.
    notes: list[str] = field(default_factory=list[str])


def stand_in_line(connection: "Connection", user_id: str) -> None:
    """Wait until nobody else writes a user's rows; the line moves when the transaction ends.

    SQLite has one writer at a time anyway. In Postgres two would read the same row, and the later
    sum would forget the earlier.
    """
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        lock = text("SELECT pg_advisory_xact_lock(hashtextextended(:user_id, 0))")
        connection.execute(lock, {"user_id": user_id})

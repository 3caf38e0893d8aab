"""Privacy: whose conversation a session is, and that nobody else is shown what happens in it.

Names are claimed, not proven. Who does not say who they are sees everything as long as one person
talks here; where several do, no conversation is shown without a name. Sessions nobody talks in
belong to the project.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from callboard.core.errors import Conflict
from callboard.store.connection import Connection

T = TypeVar("T")
# What somebody put there by hand may be no JSON: then it names nobody, and can still be verified.
_DOCUMENT: Final = "CASE WHEN json_valid(document) THEN json_extract(document, '$.user_id') END"
_ARGS: Final = "CASE WHEN json_valid(args) THEN json_extract(args, '$.user_id') END"
_OWNER: Final = f"""
SELECT owner FROM (
  SELECT {_DOCUMENT} AS owner, 0 AS rank FROM conversations WHERE session_id = :session_id
  UNION ALL SELECT {_ARGS}, 1 FROM runs WHERE session_id = :session_id
) AS told WHERE owner IS NOT NULL AND owner <> '' ORDER BY rank LIMIT 1
"""  # noqa: S608 - literals
# Not every store knows a name in its own WHERE.
_PEOPLE: Final = f"""
SELECT DISTINCT owner FROM (SELECT {_DOCUMENT} AS owner FROM conversations) AS told
WHERE owner IS NOT NULL AND owner <> '' LIMIT 2
"""  # noqa: S608 - literals
_OWNED: Final = f"""
SELECT session_id, owner FROM
  (SELECT session_id, {_DOCUMENT} AS owner FROM conversations) AS told
WHERE owner IS NOT NULL AND owner <> ''
"""  # noqa: S608 - literals


class SomebodyElsesSession(Conflict):
    """What was asked for belongs to a conversation of another person."""

    code = "somebody_elses_conversation"


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at runs, events and receipts."""

    person: str | None = None

    def sees(self, connection: Connection, session_id: str) -> bool:
        """Say whether a session is shown to them."""
        row = connection.execute(_OWNER, {"session_id": session_id}).fetchone()
        if row is None:
            return True
        if self.person is not None:
            return row["owner"] == self.person
        return len(connection.execute(_PEOPLE).fetchall()) < 2

    def require(self, connection: Connection, session_id: str) -> None:
        """Refuse to show a session of somebody else."""
        if not self.sees(connection, session_id):
            raise SomebodyElsesSession(
                "This belongs to somebody else's conversation",
                fix="Say who you are: `user_id` in the request, CALLBOARD_USER in the environment.",
                session_id=session_id,
            )

    def hidden(self, connection: Connection) -> tuple[str, ...]:
        """Return the sessions they may not see."""
        rows = connection.execute(_OWNED).fetchall()
        if self.person is None:
            people = {row["owner"] for row in rows}
            return tuple(row["session_id"] for row in rows) if len(people) > 1 else ()
        return tuple(row["session_id"] for row in rows if row["owner"] != self.person)

    def among(
        self, connection: Connection, found: Iterable[T], session_of: Callable[[T], str | None]
    ) -> list[T]:
        """Return what of a list they may see; every session is looked up once."""
        seen: dict[str, bool] = {}
        kept: list[T] = []
        for each in found:
            session = session_of(each)
            if session is not None and session not in seen:
                seen[session] = self.sees(connection, session)
            if session is None or seen[session]:
                kept.append(each)
        return kept

"""The archive: what was said and made before, read like any other table when somebody asks."""

from typing import Any, Final

from callboard.choreography.turn.remembering import list_turns
from callboard.choreography.turn.requests import (
    Condition,
    Operator,
    QueryError,
    ReadRequest,
    ReadResult,
)
from callboard.choreography.turn.work import Work
from callboard.knowledge.entities import find_content
from callboard.store.connection import Connection

TURNS: Final = "conversation_turns"
CONTENT: Final = "generated_content"
TABLES: Final = frozenset({TURNS, CONTENT})
_SEARCHING: Final = (Operator.SEARCH, Operator.ILIKE, Operator.EQ)


def read_archive(work: Work, request: ReadRequest) -> ReadResult:
    """Return rows of the conversation itself; texts are searched, nothing else is compared."""
    words: list[str] = []
    for each in request.filters:
        if (
            not isinstance(each, Condition)
            or each.op not in _SEARCHING
            or not isinstance(each.value, str)
        ):
            raise QueryError(
                "bad_operator", "The archive is searched by words only", allowed=list(_SEARCHING)
            )
        words.append(each.value.strip("%* ").casefold())
    rows = work.stage.studio.database.read(
        lambda connection: _rows(connection, work, request.table)
    )
    found = [row for row in rows if all(_holds(row, word) for word in words)]
    shown = found[request.offset : request.offset + request.limit]
    return ReadResult(
        rows=shown,
        row_count=len(shown),
        total_count=len(found),
        truncated=len(found) > request.offset + len(shown),
    )


def _rows(connection: Connection, work: Work, table: str) -> list[dict[str, Any]]:
    session = work.who.session_id
    if table == CONTENT:
        return [
            {"id": each.temp_id, "type": each.type, "label": each.label, "payload": each.payload}
            for each in find_content(connection, session, "")
        ]
    rows: list[dict[str, Any]] = []
    for each in list_turns(connection, session, status="done"):
        said = (each.document or {}).get("outcome", {}).get("message", "")
        rows.append({"turn": each.turn, "user": each.message, "assistant": said})
    return list(reversed(rows))


def _holds(row: dict[str, Any], word: str) -> bool:
    return any(word in str(value).casefold() for value in row.values())

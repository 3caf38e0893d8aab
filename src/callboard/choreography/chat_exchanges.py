"""Exchanges: what was said in a chat so far, read from its runs."""

from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.codec import Coded
from callboard.core.vocabulary import RunRecord, RunState
from callboard.store.connection import Connection
from callboard.store.journal.runs import list_runs

CHAT: Final = "chat"


_LEAST_READ: Final = 20


@dataclass(frozen=True, slots=True)
class ChatExchange(Coded):
    """One message and its answer, as the conversation holds it."""

    run_id: str
    agent_id: str
    message: str
    answer: str
    prompt_id: str
    receipt_ids: tuple[str, ...]
    created_at: int


def exchanges(
    connection: Connection,
    pack: str,
    session_id: str,
    agent_id: str,
    *,
    before: str | None = None,
    most: int | None = None,
) -> list[ChatExchange]:
    """Return what was said with an agent in a session, oldest first; failed messages are not.

    With `most` only the latest of them, with `before` only what was said before that run; then no
    more of a long conversation is read than is asked for.
    """
    found: list[ChatExchange] = []
    while most is None or len(found) < most:
        page = list_runs(
            connection,
            states=(RunState.DONE,),
            choreography=f"{pack}/{CHAT}",
            session_id=session_id,
            before=before,
            # Others may have been spoken to between.
            limit=None if most is None else max(most - len(found), _LEAST_READ),
        )
        found += [exchange_of(connection, run) for run in page if run.args.get("agent") == agent_id]
        if most is None or not page:
            break
        before = page[-1].id
    return found[:most][::-1]


def exchange_of(connection: Connection, run: RunRecord) -> ChatExchange:
    """Return the exchange a run was."""
    result = cast("dict[str, Any]", run.result)
    row: Any = connection.execute(
        "SELECT id FROM prompts WHERE run_id = :run_id AND reply IS NOT NULL"
        " ORDER BY created_at DESC, id DESC LIMIT 1",
        {"run_id": run.id},
    ).fetchone()
    return ChatExchange(
        run_id=run.id,
        agent_id=str(result["agent_id"]),
        message=str(run.args["message"]),
        answer=str(result["text"]),
        prompt_id="" if row is None else str(row["id"]),
        receipt_ids=tuple(result["receipt_ids"]),
        created_at=run.created_at,
    )

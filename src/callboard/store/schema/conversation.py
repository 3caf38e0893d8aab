"""The tables of conversations: what a session is about now, and every turn as it was."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Table, Text

from callboard.store.schema.metadata import metadata

conversations: Final = Table(
    "conversations",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("document", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

conversation_turns: Final = Table(
    "conversation_turns",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("turn", BigInteger, primary_key=True),
    Column("run_id", Text, nullable=False),
    # Which of the run's turns it is, counted from 1: a run that asks goes on with the answer.
    Column("part", BigInteger, nullable=False),
    # running, done or interrupted.
    Column("status", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("client_message_id", Text),
    Column("document", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Index("conversation_turns_by_client", "session_id", "client_message_id"),
    Index("conversation_turns_by_run", "run_id", "part"),
    Index("conversation_turns_by_status", "session_id", "status"),
)

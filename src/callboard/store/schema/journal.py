"""The tables of the journal: sessions, runs, steps, what happened, what was asked."""

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Table, Text

from callboard.store.schema.metadata import metadata

meta: Final = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

blobs: Final = Table(
    "blobs",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

processes: Final = Table(
    "processes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("pid", BigInteger, nullable=False),
    Column("host", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
)

sessions: Final = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("summary", Text, nullable=False, server_default=""),
    Column("created_at", BigInteger, nullable=False),
    Column("activated_at", BigInteger),
    Column("suspended_at", BigInteger),
    Column("completed_at", BigInteger),
    Column("last_active_at", BigInteger, nullable=False),
)

runs: Final = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),
    Column("session_id", Text, ForeignKey("sessions.id"), nullable=False),
    Column("choreography", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("args", Text, nullable=False),
    Column("result", Text),
    Column("error", Text),
    Column("parent_id", Text, ForeignKey("runs.id")),
    Column("parent_seq", BigInteger, nullable=False),
    Column("origin", Text, nullable=False),
    Column("owner", Text, ForeignKey("processes.id")),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("runs_by_state", "state"),
    Index("runs_by_session_and_state", "session_id", "state"),
)

claims: Final = Table(
    "claims",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("deaths", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
)

steps: Final = Table(
    "steps",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("effect", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("input_hash", Text, nullable=False),
    Column("output", Text),
    Column("output_hash", Text),
    Column("slot", Text),
    Column("receipt_id", Text),
    Column("error", Text),
    Column("detail", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger, nullable=False),
)

events: Final = Table(
    "events",
    metadata,
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("at", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("session_id", Text),
    Column("run_id", Text),
    Column("step_key", Text),
    Column("data", Text, nullable=False),
    Index("events_by_run", "run_id", "seq"),
)

signals: Final = Table(
    "signals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False, unique=True),
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("acknowledged_at", BigInteger),
    Column("acknowledged_state", Text),
    Index("signals_by_run", "run_id"),
)

questions: Final = Table(
    "questions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("asked_at", BigInteger, nullable=False),
    Column("value", Text),
    Column("answered_at", BigInteger),
    Column("answered_by", Text),
    Index("questions_by_run", "run_id", "key", unique=True),
)

conferences: Final = Table(
    "conferences",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id"), nullable=False),
    Column("pack", Text, nullable=False),
    Column("agents", Text, nullable=False),
    Column("tool_policy", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

plans: Final = Table(
    "plans",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("plans_by_session", "session_id", "created_at"),
)

"""The tables, once, for every database. Imported to create or change a database, not to use one.

Times are milliseconds since the epoch, JSON is text, booleans are 0 and 1: nothing here needs a
driver's help to be read back the same from SQLite and Postgres.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

metadata: Final = MetaData()

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
    Index("runs_by_session", "session_id"),
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

receipts: Final = Table(
    "receipts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("tool", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("run_id", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("payload", Text),
    Column("hash", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Index("receipts_by_session", "session_id", "seq", unique=True),
    Index("receipts_by_run", "run_id"),
)

receipt_heads: Final = Table(
    "receipt_heads",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    Column("signature", Text, nullable=False),
)

issues: Final = Table(
    "issues",
    metadata,
    Column(
        "id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    # What must not be left behind twice; NULL where nothing repeats it.
    Column("key", Text, unique=True),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("priority", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("run_id", Text),
    Column("session_id", Text),
    Column("step_id", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("issues_by_run", "run_id"),
    Index("issues_by_session", "session_id"),
)

issue_receipts: Final = Table(
    "issue_receipts",
    metadata,
    Column("issue_id", BigInteger, ForeignKey("issues.id"), primary_key=True),
    Column("receipt_id", Text, primary_key=True),
    Column("position", BigInteger, nullable=False),
    Index("issue_receipts_by_receipt", "receipt_id"),
)

evidence_verdicts: Final = Table(
    "evidence_verdicts",
    metadata,
    Column(
        "id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("at", BigInteger, nullable=False),
    Column("agent_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("abstained", Integer, nullable=False),
    Column("codes", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("sources", Text, nullable=False),
    Column("session_id", Text),
    Column("run_id", Text),
    Column("step_key", Text),
    Index("evidence_verdicts_by_run", "run_id"),
    Index("evidence_verdicts_by_session", "session_id"),
)

evidence_codes: Final = Table(
    "evidence_codes",
    metadata,
    Column("verdict_id", BigInteger, ForeignKey("evidence_verdicts.id"), primary_key=True),
    Column("code", Text, primary_key=True),
    Index("evidence_codes_by_code", "code"),
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

used_nonces: Final = Table(
    "used_nonces",
    metadata,
    Column("nonce", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("used_at", BigInteger, nullable=False),
)

breakers: Final = Table(
    "breakers",
    metadata,
    Column("resource", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("successes", BigInteger, nullable=False),
    Column("results", Text, nullable=False),
    Column("probes", Text, nullable=False),
    Column("serial", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("failed_at", BigInteger),
    Column("cooldown_until", BigInteger),
    # Grows with every write: a change goes through only on the row it was worked out from.
    Column("revision", BigInteger, nullable=False),
)

prompts: Final = Table(
    "prompts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
    Column("session_id", Text),
    Column("run_id", Text),
    Column("step_key", Text),
    Column("agent_id", Text),
    Column("model_id", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("total_tokens", BigInteger, nullable=False),
    Column("limit_tokens", BigInteger),
    Column("layers", Text, nullable=False),
    Column("messages", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("reply", Text),
    Column("usage", Text),
    Column("warnings", Text),
    Column("replied_at", BigInteger),
    Index("prompts_by_run", "run_id"),
)

calls: Final = Table(
    "calls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("session_id", Text),
    Column("run_id", Text),
    Column("step_key", Text),
    Column("agent_id", Text),
    Column("pack", Text),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("estimated_tokens", BigInteger, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    # 1 when the provider said nothing about tokens and they were counted here.
    Column("is_estimated", Integer, nullable=False),
    # Millionths of a dollar; NULL when nobody knows the price.
    Column("microusd", BigInteger),
    Column("latency_ms", BigInteger, nullable=False),
    Column("first_token_ms", BigInteger),
    Column("outcome", Text, nullable=False),
    Column("error_code", Text),
    Column("prompt_id", Text),
    Column("attempt", BigInteger, nullable=False),
    Column("switched_from", Text),
    Index("calls_by_time", "at"),
    Index("calls_by_run", "run_id"),
    Index("calls_by_prompt", "prompt_id"),
)

budgets: Final = Table(
    "budgets",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("limit_microusd", BigInteger),
    Column("limit_tokens", BigInteger),
    Column("limit_calls", BigInteger),
    Column("limit_ms", BigInteger),
    Column("spent_microusd", BigInteger, nullable=False),
    Column("spent_tokens", BigInteger, nullable=False),
    Column("spent_calls", BigInteger, nullable=False),
    Column("spent_ms", BigInteger, nullable=False),
)

reservations: Final = Table(
    "reservations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("process_id", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    # The call it was taken for, so that it can be booked if its process dies.
    Column("session_id", Text),
    Column("run_id", Text),
    Column("step_key", Text),
    Column("agent_id", Text),
    Column("pack", Text),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("prompt_id", Text),
    Column("estimated_tokens", BigInteger, nullable=False),
    # What is still held back; shrinks when a call is booked against it.
    Column("microusd", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("ms", BigInteger, nullable=False),
    # How many calls have been booked against it.
    Column("booked", BigInteger, nullable=False),
    Index("reservations_by_run", "run_id"),
)

subscription_usage: Final = Table(
    "subscription_usage",
    metadata,
    Column("provider", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("period_start", BigInteger, primary_key=True),
    # The empty text stands for all sessions together.
    Column("session_id", Text, primary_key=True),
    Column("period_end", BigInteger, nullable=False),
    Column("requests_used", BigInteger, nullable=False),
    Column("tokens_used", BigInteger, nullable=False),
    Column("microusd_used", BigInteger, nullable=False),
    Column("level", BigInteger, nullable=False),
)

limiter_states: Final = Table(
    "limiter_states",
    metadata,
    Column("credential", Text, primary_key=True),
    Column("attempt", BigInteger, nullable=False),
    Column("paused_at", BigInteger, nullable=False),
    Column("resume_at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    Column("resumed_at", BigInteger),
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

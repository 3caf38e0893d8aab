"""The tables of the audit trail: receipts, calls begun, prompts, verdicts on evidence, issues."""

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from callboard.store.schema.metadata import metadata

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

used_nonces: Final = Table(
    "used_nonces",
    metadata,
    Column("nonce", Text, primary_key=True),
    Column("session_id", Text, nullable=False),
    Column("used_at", BigInteger, nullable=False),
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
    Index("prompts_by_reply", "session_id", "replied_at"),
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

tool_intents: Final = Table(
    "tool_intents",
    metadata,
    # The id its receipt will have.
    Column("id", Text, primary_key=True),
    # Who makes the call: once that process is gone, nobody will say how it ended.
    Column("process_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)

"""The tables of the gate to the models: calls, budgets, limits, circuit breakers."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text

from callboard.store.schema.metadata import metadata

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

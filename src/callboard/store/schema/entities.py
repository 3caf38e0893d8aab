"""The tables of what conversations are about: entities, what happened to them, what was made."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text

from callboard.store.schema.metadata import metadata

entity_registries: Final = Table(
    "entity_registries",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("document", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

entity_events: Final = Table(
    "entity_events",
    metadata,
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("session_id", Text, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("change", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("entity_events_by_session", "session_id", "seq"),
)

entity_content: Final = Table(
    "entity_content",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("temp_id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("db_id", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("archived_at", BigInteger),
)

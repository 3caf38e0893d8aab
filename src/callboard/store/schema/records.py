"""The table of what packs keep about a project."""

from typing import Final

from sqlalchemy import BigInteger, Column, Table, Text

from callboard.store.schema.metadata import metadata

records: Final = Table(
    "records",
    metadata,
    Column("pack", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

"""The table of the ledger: what every commit changed, chained and signed."""

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table, Text, text

from callboard.store.schema.metadata import metadata

ledger: Final = Table(
    "ledger",
    metadata,
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    ),
    # write, baseline or gap.
    Column("kind", Text, nullable=False),
    # For the reader: the order is the number's.
    Column("at", BigInteger, nullable=False),
    # Which key signed it.
    Column("key_id", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("mac", LargeBinary, nullable=False),
    Index("ledger_marks", "seq", sqlite_where=text("kind <> 'write'")),
)

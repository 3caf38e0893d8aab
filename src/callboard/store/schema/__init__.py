"""The tables, once, for every database. Imported to create or change a database, not to use one.

Times are milliseconds since the epoch, JSON is text, booleans are 0 and 1: nothing here needs a
driver's help to be read back the same from SQLite and Postgres.
"""

from callboard.store.schema import (
    audit,
    conversation,
    entities,
    gate,
    journal,
    knowledge,
    ledger,
    records,
)
from callboard.store.schema.metadata import metadata

__all__ = [
    "audit",
    "conversation",
    "entities",
    "gate",
    "journal",
    "knowledge",
    "ledger",
    "metadata",
    "records",
]

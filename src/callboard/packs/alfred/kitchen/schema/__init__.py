"""The kitchen's tables, once, for SQLite and Postgres."""

from callboard.packs.alfred.kitchen.schema.catalogue import kitchen_tables
from callboard.packs.alfred.kitchen.schema.tables import metadata, write_log

__all__ = ["kitchen_tables", "metadata", "write_log"]

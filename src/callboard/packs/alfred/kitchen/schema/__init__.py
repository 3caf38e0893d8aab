"""The kitchen's tables, once, for SQLite and Postgres."""

from callboard.packs.alfred.kitchen.schema.catalogue import kitchen_tables
from callboard.packs.alfred.kitchen.schema.log import write_log
from callboard.packs.alfred.kitchen.schema.metadata import metadata

__all__ = ["kitchen_tables", "metadata", "write_log"]

"""The kitchen's write log: in its own database, beside the rows it is about."""

from typing import Final

from callboard.library.relational.undo import log_tables
from callboard.packs.alfred.kitchen.schema.metadata import metadata

# Registered here and once: two threads that need it first must not both do it.
write_log: Final = log_tables(metadata)

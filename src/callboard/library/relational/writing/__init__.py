"""Writing: changes that are validated, scoped, atomic, confirmed where needed, and undoable."""

from callboard.library.relational.writing.changes import Changes
from callboard.library.relational.writing.log import log_tables
from callboard.library.relational.writing.moment import Moment
from callboard.library.relational.writing.rules import Deletion, Joined, Rules
from callboard.library.relational.writing.writer import Writer

__all__ = ["Changes", "Deletion", "Joined", "Moment", "Rules", "Writer", "log_tables"]

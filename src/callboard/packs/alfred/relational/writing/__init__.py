"""Writing: changes that are validated, scoped, atomic, confirmed where needed, and undoable."""

from callboard.packs.alfred.relational.writing.changes import Changes
from callboard.packs.alfred.relational.writing.log import log_tables
from callboard.packs.alfred.relational.writing.moment import Moment
from callboard.packs.alfred.relational.writing.rules import Deletion, Joined, Rules
from callboard.packs.alfred.relational.writing.writer import Writer

__all__ = ["Changes", "Deletion", "Joined", "Moment", "Rules", "Writer", "log_tables"]

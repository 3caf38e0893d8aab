"""The write log: what each change replaced, and what each write answered.

It is what undo reads, and what makes a write that is sent twice happen once.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table


@dataclass(frozen=True, slots=True)
class LogTables:
    """The two tables of the log."""

    changes: "Table"
    outcomes: "Table"


def log_tables(metadata: "MetaData") -> LogTables:
    """Register the log in a domain's own database, beside the rows it is about."""
    from sqlalchemy import JSON, BigInteger, Column, Index, Integer, Table, Text

    if "write_log" in metadata.tables:
        return LogTables(metadata.tables["write_log"], metadata.tables["write_outcomes"])
    number = BigInteger().with_variant(Integer, "sqlite")
    changes = Table(
        "write_log",
        metadata,
        Column("seq", number, primary_key=True, autoincrement=True),
        Column("user_id", Text, nullable=False),
        Column("session_id", Text, nullable=False),
        Column("turn", Integer, nullable=False),
        Column("step_id", Text, nullable=False),
        Column("table_name", Text, nullable=False),
        Column("op", Text, nullable=False),
        Column("row_key", JSON, nullable=False),
        Column("label", Text, nullable=False),
        Column("before", JSON(none_as_null=True)),
        Column("after", JSON(none_as_null=True)),
        Column("at", Text, nullable=False),
        Column("undone_at", Text),
        Index("write_log_by_turn", "user_id", "session_id", "turn"),
    )
    outcomes = Table(
        "write_outcomes",
        metadata,
        Column("key", Text, primary_key=True),
        Column("result", JSON, nullable=False),
        Column("at", Text, nullable=False),
    )
    return LogTables(changes, outcomes)


Values = dict[str, Any]

"""The schema in SQLite's words, and its full text: an index over the library's passages.

The passages are the truth; the index is kept in step by triggers, holds no text of its own and can
be made again from them.
"""

from functools import cache
from typing import Final

from callboard.store.connection import Connection

FULL_TEXT: Final[tuple[str, ...]] = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS library_text USING fts5("
    "heading, text, content='library_passages', content_rowid='id',"
    ' tokenize="porter unicode61 remove_diacritics 2")',
    "CREATE TRIGGER IF NOT EXISTS library_passages_added AFTER INSERT ON library_passages BEGIN"
    " INSERT INTO library_text (rowid, heading, text) VALUES (new.id, new.heading, new.text);"
    " END",
    "CREATE TRIGGER IF NOT EXISTS library_passages_removed AFTER DELETE ON library_passages BEGIN"
    " INSERT INTO library_text (library_text, rowid, heading, text)"
    " VALUES ('delete', old.id, old.heading, old.text);"
    " END",
)

REBUILD_FULL_TEXT: Final = "INSERT INTO library_text (library_text) VALUES ('rebuild')"


def create_schema(connection: Connection) -> None:
    """Make every table and index that is not there."""
    for statement in _statements():
        connection.execute(statement)


@cache
def _statements() -> tuple[str, ...]:
    """Return the newest schema in SQL; it does not change while the process lives."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from callboard.store.schema import metadata

    dialect = sqlite.dialect()
    made: list[str] = []
    for table in metadata.sorted_tables:
        make_table = CreateTable(table, if_not_exists=True)
        made.append(str(make_table.compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            make_index = CreateIndex(index, if_not_exists=True)
            made.append(str(make_index.compile(dialect=dialect)))
    return (*made, *FULL_TEXT)

"""The schema in SQLite's words, and its full text: an index over the library's passages.

The passages are the truth; the index is kept in step by triggers, holds no text of its own and can
be made again from them.
"""

from collections.abc import Sequence
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


class SqliteFullText:
    """Asks the index of words."""

    def match(
        self, connection: Connection, collection: str, words: Sequence[str], count: int
    ) -> list[tuple[int, float]]:
        """Return the passages in which any of the words stand, with how well; more is better."""
        # The plus keeps SQLite from asking the index of words once per passage, and the passages of
        # a collection are counted by their own index, without touching their texts.
        rows = connection.execute(
            "SELECT library_text.rowid AS id, bm25(library_text, 0.5, 1.0) AS score"
            " FROM library_text WHERE library_text MATCH ? AND +library_text.rowid IN"
            " (SELECT id FROM library_passages INDEXED BY library_passages_by_document"
            " WHERE collection = ?) ORDER BY score, library_text.rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), collection, count),
        )
        return [(row["id"], -row["score"]) for row in rows]


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

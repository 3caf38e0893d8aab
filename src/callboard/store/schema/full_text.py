"""Full text on SQLite: an index over the library's passages, kept in step by triggers.

The passages are the truth; the index holds no text of its own and can be made again from them.
"""

from typing import Final

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

"""A connection that notices every row it changes, whoever changes it and by which statement.

Temporary triggers report each change, cascades and replacements included. They are made for a
table when it is first written to; until then SQLite itself refuses the write, so that none can be
overlooked.
"""

import sqlite3
from collections import defaultdict
from typing import Any, Final

from callboard.store.ledger.rows import Key, TableShape, is_protected, quoted
from callboard.store.sqlite.connection import SqliteConnection

_WRITES: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})


class WatchedConnection(SqliteConnection):
    """Collects the rows changed since the last `forget`, each with its digest."""

    def watch(self) -> None:
        """Begin to notice."""
        self._touched: defaultdict[str, dict[Key, str | None]] = defaultdict(dict)
        self._shapes: dict[str, TableShape] = {}
        # Tables watched since the transaction began: rolling it back takes their triggers away.
        self._fresh: list[str] = []
        self._unwatched: set[str] = set()
        # Whether a statement failed or a part was undone: then what was noted may never have been.
        self._is_doubtful = False
        self._uses_savepoints = False
        # Without it, what INSERT OR REPLACE replaces would vanish unseen.
        super().execute("PRAGMA recursive_triggers=ON")
        self.create_function("note_row", -1, self._note_row, deterministic=False)
        self.create_function("note_gone", -1, self._note_gone, deterministic=False)
        self.set_authorizer(self._authorize)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run one statement, watching the tables it writes to first."""
        while True:
            try:
                return super().execute(sql, parameters)
            except sqlite3.Error:
                if not self._watch_more():
                    raise

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        """Run one statement for many parameter sets, watching likewise."""
        while True:
            try:
                return super().executemany(sql, parameters)
            except sqlite3.Error:
                if not self._watch_more():
                    raise

    def touched(self) -> dict[str, dict[Key, str | None]]:
        """Return the rows changed since the transaction began."""
        if self._is_doubtful or self._uses_savepoints:
            for table, rows in self._touched.items():
                for key in rows:
                    rows[key] = _row_digest(self, self._shapes[table], key)
        return self._touched

    def forget(self, *, undone: bool = False) -> None:
        """Begin anew, after a commit or with `undone` after a rollback."""
        self._touched = defaultdict(dict)
        self._is_doubtful = False
        if undone:
            for table in self._fresh:
                del self._shapes[table]
        self._fresh = []

    def _authorize(
        self, action: int, table: str | None, _detail: Any, schema: str | None, _by: Any, /
    ) -> int:
        if action in _WRITES and schema == "main" and table is not None:
            if table not in self._shapes and is_protected(table):
                self._unwatched.add(table)
                return sqlite3.SQLITE_DENY
        elif action == sqlite3.SQLITE_SAVEPOINT:
            self._uses_savepoints = True
        return sqlite3.SQLITE_OK

    def _watch_more(self) -> bool:
        """Watch the tables a write was refused for; say whether there were any."""
        if not self._unwatched:
            self._is_doubtful = True
            return False
        while self._unwatched:
            table = self._unwatched.pop()
            if table not in self._shapes:
                shape = self.shape_of(table)
                for trigger in _triggers(shape):
                    super().execute(trigger)
                self._shapes[table] = shape
                self._fresh.append(table)
        return True

    def _note_row(self, table: str, *values: Any) -> None:
        shape = self._shapes[table]
        self._touched[table][shape.key(values)] = shape.digest(values)

    def _note_gone(self, table: str, *key: Any) -> None:
        self._touched[table][key] = None


def _triggers(shape: TableShape) -> tuple[str, str, str]:
    name, table = quoted(shape.name), f"'{shape.name}'"
    row = ", ".join(f"NEW.{quoted(each)}" for each in shape.columns)
    key = ", ".join(f"OLD.{quoted(each)}" for each in shape.key_columns)
    moved = " OR ".join(
        f"OLD.{quoted(each)} IS NOT NEW.{quoted(each)}" for each in shape.key_columns
    )
    note, gone = f"SELECT note_row({table}, {row});", f"SELECT note_gone({table}, {key})"
    begin = f"CREATE TEMP TRIGGER {quoted(f'{shape.name} %s')} AFTER %s ON main.{name} BEGIN "
    return (
        f"{begin % ('added', 'INSERT')}{note} END",
        f"{begin % ('changed', 'UPDATE')}{gone} WHERE {moved}; {note} END",
        f"{begin % ('removed', 'DELETE')}{gone}; END",
    )


def _row_digest(connection: sqlite3.Connection, shape: TableShape, key: Key) -> str | None:
    """Return the digest of a row as it is now, or None if there is no such row."""
    columns = ", ".join(map(quoted, shape.columns))
    where = " AND ".join(f"{quoted(name)} IS ?" for name in shape.key_columns)
    sql = f"SELECT {columns} FROM {quoted(shape.name)} WHERE {where}"  # noqa: S608 - names of our own schema
    row = connection.execute(sql, key).fetchone()
    return None if row is None else shape.digest(tuple(row))

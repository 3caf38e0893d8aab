"""A connection that notices every row it changes, by what the triggers of the schema tell it."""

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from callboard.store.ledger.rows import Key, quoted
from callboard.store.postgres.connection import PostgresConnection
from callboard.store.postgres.schema import NOTICE

if TYPE_CHECKING:
    import psycopg

_AT_ONCE: Final = 500


class WatchedPostgres(PostgresConnection):
    """Collects the keys of the rows changed since the last `forget`."""

    def take(self, raw: "psycopg.Connection[Any]") -> None:
        """Use a connection, and begin to notice."""
        super().take(raw)
        self._told: defaultdict[str, dict[Key, None]] = defaultdict(dict)
        raw.add_notice_handler(self._hear)

    def touched(self) -> dict[str, dict[Key, str | None]]:
        """Return the rows changed since the transaction began, each with its digest as it is."""
        return {table: self._digests(table, list(keys)) for table, keys in self._told.items()}

    def forget(self, *, undone: bool = False) -> None:
        """Begin anew, after a commit or a rollback."""
        self._told.clear()

    def _hear(self, notice: Any) -> None:
        if notice.sqlstate == NOTICE:
            table, *key = json.loads(notice.message_primary)
            self._told[table][tuple(key)] = None

    def _digests(self, table: str, keys: list[Key]) -> dict[Key, str | None]:
        shape = self.shape_of(table)
        columns = ", ".join(map(quoted, shape.columns))
        named = ", ".join(map(quoted, shape.key_columns))
        found: dict[Key, str | None] = dict.fromkeys(keys)
        for some in _batches(keys):
            marks = ", ".join(f"({', '.join('?' * len(key))})" for key in some)
            sql = f"SELECT {columns} FROM {quoted(table)} WHERE ({named}) IN ({marks})"  # noqa: S608 - names of our own schema
            for row in self.execute(sql, [each for key in some for each in key]):
                values = tuple(row)
                found[shape.key(values)] = shape.digest(values)
        return found


def _batches(keys: list[Key]) -> list[list[Key]]:
    return [keys[at : at + _AT_ONCE] for at in range(0, len(keys), _AT_ONCE)]

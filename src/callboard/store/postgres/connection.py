"""A connection to Postgres that takes the statements of a store, and its failures told to the user.

Statements are the same as on SQLite: this is the one place that puts them into the server's words.
What SQLite has and the server has not (`json_extract`, `instr`, `json_each`, `rowid`) is made once,
in the schema.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from callboard.core.places import without_user
from callboard.store.connection import (
    DiskFull,
    Params,
    RuleBroken,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
)
from callboard.store.ledger.rows import TableShape
from callboard.store.postgres.address import StoreAddress
from callboard.store.postgres.schema import WITH_ROWID, read_shapes

if TYPE_CHECKING:
    import psycopg

_NAME: Final = re.compile(r"(?<![:\w]):([a-zA-Z_]\w*)")
_FULL: Final = ("53100", "53200")
_READ_ONLY: Final = ("25006", "42501")
_BUSY: Final = ("55P03", "40001", "40P01", "57014", "53300")
_GONE: Final = ("42P01", "3F000")
_DAMAGED: Final = ("XX001", "XX002")


class ConnectionLost(StoreBusy):
    """The server went away before anything was committed; the same work may be done again."""

    code = "connection_lost"


class NamedRow(tuple[Any, ...]):
    """A row by position and by name, as SQLite gives one."""

    __slots__ = ()
    places: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        """Return a value by its column's name or number."""
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.places)


@cache
def _row_type(names: tuple[str, ...]) -> type[NamedRow]:
    return type(
        "NamedRow", (NamedRow,), {"__slots__": (), "places": {n: i for i, n in enumerate(names)}}
    )


def _make_rows(cursor: Any) -> Any:
    return _row_type(tuple(column.name for column in cursor.description or ()))


@cache
def translated(sql: str, *, is_named: bool) -> bytes:
    """Return a statement in the server's words."""
    text = sql.replace("%", "%%").replace("IN ()", "IN (NULL)")
    return (_NAME.sub(r"%(\1)s", text) if is_named else text.replace("?", "%s")).encode()


class PostgresConnection:
    """What a unit of work writes and reads through."""

    def __init__(self, raw: "psycopg.Connection[Any]", address: StoreAddress) -> None:
        """Take an open connection."""
        import psycopg

        self.address = address
        self._cursors = psycopg.ClientCursor[Any]
        self.take(raw)

    def take(self, raw: "psycopg.Connection[Any]") -> None:
        """Use another connection from now on, in place of one that was lost."""
        _adapt(raw)
        self.raw = raw

    def execute(self, sql: str, parameters: Params = (), /) -> Any:
        """Run one statement."""
        cursor = self._cursors(self.raw, row_factory=_make_rows)
        text = translated(sql, is_named=isinstance(parameters, dict))
        cursor.execute(text, parameters)
        return _Fetched(cursor)

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        """Run one statement for many parameter sets."""
        cursor = self._cursors(self.raw, row_factory=_make_rows)
        given = list(parameters)
        text = translated(sql, is_named=bool(given) and isinstance(given[0], dict))
        cursor.executemany(text, given)
        return _Fetched(cursor)

    def protected_tables(self) -> list[str]:
        """Return the names of the tables whose rows stand in the ledger, sorted."""
        return sorted(self._shapes)

    def shape_of(self, table: str, /) -> TableShape:
        """Return the shape of one table."""
        return self._shapes[table]

    def arrival(self, table: str, /) -> str:
        """Return by what rows are sorted to be in the order in which they came."""
        return "rowid" if table in WITH_ROWID else "1"

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Write within a transaction of its own, in the line of all writers."""
        with self.raw.transaction():
            self.execute("SELECT pg_advisory_xact_lock(?)", (self.address.number("writers"),))
            yield

    def any_text(self) -> "nullcontext[None]":
        """Read as ever: the server keeps nothing but text where text belongs."""
        return nullcontext()

    @cached_property
    def _shapes(self) -> dict[str, TableShape]:
        return read_shapes(self, self.address.schema)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.raw.info.transaction_status.name in ("INTRANS", "ACTIVE", "INERROR")

    def close(self) -> None:
        """Let go of the connection."""
        self.raw.close()


class _Fetched:
    """What a statement gave back; one that gives no rows has none."""

    __slots__ = ("_cursor", "rowcount")

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.rowcount: int = max(cursor.rowcount, 0)

    def fetchone(self) -> Any:
        return self._cursor.fetchone() if self._cursor.description else None

    def fetchall(self) -> list[Any]:
        return self._cursor.fetchall() if self._cursor.description else []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


def _adapt(raw: "psycopg.Connection[Any]") -> None:
    """Have numbers and truth values be what SQLite makes of them."""
    from psycopg.adapt import Dumper, Loader
    from psycopg.types.string import StrDumper

    class Truth(Dumper):
        oid = 20

        def dump(self, obj: bool) -> bytes:
            return b"1" if obj else b"0"

        def quote(self, obj: bool) -> bytes:
            return self.dump(obj)

    class Words(StrDumper):
        def dump(self, obj: str) -> Any:
            # The server keeps every sign but this one.
            return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)

    class Number(Loader):
        def load(self, data: Any) -> int | float:
            text = bytes(data).decode()
            return int(text) if text.lstrip("-").isdecimal() else float(text)

    class Yes(Loader):
        def load(self, data: Any) -> int:
            return int(bytes(data) == b"t")

    raw.adapters.register_dumper(str, Words)
    raw.adapters.register_dumper(bool, Truth)
    raw.adapters.register_loader("numeric", Number)
    raw.adapters.register_loader("bool", Yes)


def is_lost(error: BaseException, connection: PostgresConnection) -> bool:
    """Say whether the connection is gone, and not only a statement refused."""
    import psycopg

    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (
        connection.raw.closed or connection.raw.broken
    )


def translate(error: Exception, address: StoreAddress) -> Exception:
    """Say what a failure of the server means for the user and what they can do."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return error
    told = _told(error, address)
    told.__cause__ = error
    return told


def _told(error: "psycopg.Error", address: StoreAddress) -> StoreError | RuleBroken:
    import psycopg

    state, place = error.sqlstate or "", without_user(address.url)
    text = " ".join(without_user(str(error)).split())
    if isinstance(error, psycopg.IntegrityError | psycopg.DataError):
        return RuleBroken(f"The database refused a row: {text}", path=place)
    if state in _FULL:
        return DiskFull(f"No space left on the server of {place}", fix="Make room on it.")
    if state in _READ_ONLY:
        return StoreReadOnly(
            f"Cannot write to {place}: {text}",
            fix="Give the user of `store.url` the right to write, or name the primary server.",
        )
    if state in _BUSY:
        return StoreBusy(f"{place} is busy: {text}", fix="Wait, then try again.")
    if state in _GONE:
        return StoreError(
            f"{address} does not hold the project's tables: the server may have been replaced by an"
            " empty or another one",
            fix="Name the right server in `store.url`, or restore its backup. Nothing was changed.",
        )
    if state in _DAMAGED:
        return StoreCorrupt(f"The database {place} is damaged: {text}", fix="Restore a backup.")
    if state.startswith(("08", "57P")) or not state:
        return ConnectionLost(f"The server of {place} went away: {text}", fix="Try again.")
    return StoreError(f"The database {place} failed: {text}", path=place, sqlstate=state)

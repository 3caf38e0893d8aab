"""Dialects: the few things SQLite and Postgres say differently."""

from typing import Any, Final, Protocol

FOLD: Final = "callboard_fold"
"""The function that folds case on SQLite; connections bring it along."""


class Dialect(Protocol):
    """What a compiled filter needs to be said in the database's own way."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        ...

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        ...


class SqliteDialect:
    """SQLite, with lists as JSON text."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        from sqlalchemy import func

        return getattr(func, FOLD)(column)

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        from sqlalchemy import func, select

        items = func.json_each(column).table_valued("value")
        return select(1).select_from(items).where(items.c.value == value).exists()


class PostgresDialect:
    """Postgres, with lists as JSONB."""

    def fold(self, column: Any) -> Any:
        """Return a text without its case."""
        from sqlalchemy import func

        return func.lower(column)

    def list_holds(self, column: Any, value: Any) -> Any:
        """Return whether a list in a column holds a value."""
        from sqlalchemy import cast
        from sqlalchemy.dialects.postgresql import JSONB

        return cast(column, JSONB).contains([value])


def dialect_of(*, is_sqlite: bool) -> Dialect:
    """Return the dialect of a database."""
    return SqliteDialect() if is_sqlite else PostgresDialect()

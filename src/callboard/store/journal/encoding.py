"""How rows are read back: JSON columns, and what to say of a row that cannot be read."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord
from callboard.store.connection import StoreCorrupt

P = ParamSpec("P")
T = TypeVar("T")


class RowDamaged(StoreCorrupt):
    """A row holds what nobody can have written."""

    code = "row_damaged"


def decode(text: str | None) -> Json:
    """Return the value of a JSON column; an empty column is None."""
    return json.loads(text) if text is not None else None


def decode_error(text: str | None) -> ErrorRecord | None:
    """Return the error of a JSON column, if any."""
    return ErrorRecord.from_json(json.loads(text)) if text is not None else None


def row_of(table: str, *keys: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function whose last argument is a row of a table name the row it cannot read."""

    def wrap(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def named(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return read(*args, **kwargs)
            except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
                raise damaged(table, args[-1], keys, error) from error

        return named

    return wrap


def damaged(table: str, row: Any, keys: tuple[str, ...], error: Exception) -> RowDamaged:
    """Return the error that names a row which cannot be read."""
    name = ", ".join(f"{key} {row[key]}" for key in keys)
    return RowDamaged(
        f"The row of {table} with {name} is damaged: {error}",
        fix="`callboard doctor` compares every row with the ledger; backups lie in the project.",
        table=table,
        row={key: row[key] for key in keys},
    )

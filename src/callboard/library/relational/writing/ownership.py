"""Ownership: what a row refers to must exist, and must belong to the same user.

The database would only say that a key failed; this says which, and what was meant.
"""

from collections.abc import Mapping
from typing import Any

from callboard.choreography.turn.requests import WriteError
from callboard.library.relational.tables import USER_ID, Described
from callboard.library.relational.writing.moment import Moment


def check_references(moment: Moment, table: Described, values: Mapping[str, Any]) -> None:
    """Refuse a row that refers to what is not there or is somebody else's."""
    from sqlalchemy import select

    for key in table.table.foreign_keys:
        column = key.parent.name
        value = values.get(column)
        if value is None or column == USER_ID:
            continue
        target = key.column.table
        query = select(key.column).where(key.column == value)
        if USER_ID in target.c:
            query = query.where(target.c[USER_ID] == moment.who.user_id)
        if moment.connection.execute(query).first() is None:
            raise WriteError(
                "fk_missing",
                f"{table.name}.{column} refers to {str(value)[:80]!r}, and there is none",
                column=column,
                value=str(value)[:80],
                hint=f"Name one of your own {target.name}.",
            )

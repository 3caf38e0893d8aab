"""Changes: rows inserted, updated and deleted, each with a line in the log.

Everything that changes a row goes through here, also what follows from a change, so that undo
finds all of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from callboard.choreography.turn.requests import WriteError, WriteKey
from callboard.library.relational.names import name_key
from callboard.library.relational.tables import USER_ID, Described, Tables
from callboard.library.relational.writing.log import LogTables
from callboard.library.relational.writing.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Callable

Values = dict[str, Any]


class Changes:
    """The changes of one write."""

    def __init__(
        self,
        moment: Moment,
        tables: Tables,
        log: LogTables,
        key: WriteKey,
        new_id: "Callable[[], str]",
    ) -> None:
        """Take where rows are and under which key they are logged."""
        self.moment = moment
        self.tables = tables
        self._log = log
        self._key = key
        self._new_id = new_id
        self.count = 0
        self._deleted: set[tuple[str, str]] = set()

    @property
    def now(self) -> str:
        """This moment, as rows hold it."""
        from datetime import UTC

        return self.moment.today.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def insert(self, table: Described, values: Mapping[str, Any], label: str = "") -> Values:
        """Put in a row and return it as the database has it."""
        from sqlalchemy import insert

        complete = dict(values)
        if "id" in table.columns:
            complete.setdefault("id", self._new_id())
        if table.owned:
            complete[USER_ID] = self.moment.who.user_id
        for column in ("created_at", "updated_at"):
            if column in table.columns:
                complete[column] = self.now
        self._key_name(table, complete)
        self.moment.connection.execute(insert(table.table).values(**complete))
        row = self.load(table, complete)
        self._note(table, "insert", None, row, label)
        return row

    def update(
        self, table: Described, row: Values, values: Mapping[str, Any], label: str = ""
    ) -> Values:
        """Change a row and return it as the database has it."""
        from sqlalchemy import update

        changed = dict(values)
        self._key_name(table, changed)
        if "updated_at" in table.columns:
            changed["updated_at"] = self.now
        if "version" in table.columns:
            changed["version"] = row["version"] + 1
        self.moment.connection.execute(
            update(table.table).where(self.same(table, row)).values(**changed)
        )
        after = self.load(table, row)
        self._note(table, "update", row, after, label)
        return after

    def delete(self, table: Described, row: Values, label: str = "") -> None:
        """Take out a row."""
        from sqlalchemy import delete

        self.moment.connection.execute(delete(table.table).where(self.same(table, row)))
        self._deleted.add(_identity(table, row))
        self._note(table, "delete", row, None, label)

    def has_deleted(self, table: Described, row: Mapping[str, Any]) -> bool:
        """Say whether this write took a row out."""
        return _identity(table, row) in self._deleted

    def load(self, table: Described, row: Mapping[str, Any]) -> Values:
        """Return a row as the database has it now."""
        from sqlalchemy import select

        found = self.moment.connection.execute(
            select(table.table).where(self.same(table, row))
        ).mappings()
        first = found.first()
        if first is None:
            raise WriteError("conflict", f"A row of {table.name} vanished while it was written")
        return dict(first)

    def same(self, table: Described, row: Mapping[str, Any]) -> Any:
        """Return the condition that is true of one row."""
        from sqlalchemy import and_

        keys = table.table.primary_key.columns
        return and_(*(column == row[column.name] for column in keys))

    def _key_name(self, table: Described, values: Values) -> None:
        if table.name_key is not None and table.name_key[1] in values:
            values[table.name_key[0]] = name_key(str(values[table.name_key[1]]))

    def _note(
        self, table: Described, op: str, before: Values | None, after: Values | None, label: str
    ) -> None:
        from sqlalchemy import insert

        known = after if after is not None else before
        assert known is not None  # noqa: S101 - one of the two is there
        keys = [column.name for column in table.table.primary_key.columns]
        self.count += 1
        self.moment.connection.execute(
            insert(self._log.changes).values(
                user_id=self.moment.who.user_id,
                session_id=self._key.session_id,
                turn=self._key.turn,
                step_id=self._key.step_id,
                table_name=table.name,
                op=op,
                row_key={name: known[name] for name in keys},
                label=label or str(known.get(table.label, "")),
                before=before,
                after=after,
                at=self.now,
            )
        )


def _identity(table: Described, row: Mapping[str, Any]) -> tuple[str, str]:
    keys = [str(row[column.name]) for column in table.table.primary_key.columns]
    return table.name, "/".join(keys)

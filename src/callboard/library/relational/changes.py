"""Changes: rows made, changed and deleted in one transaction, their children with them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from callboard.choreography.turn.requests import WriteError, WriteKey
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import WriteMoment
from callboard.library.relational.tables import USER_ID, Described, Relation, Tables
from callboard.library.relational.undo import LogTables
from callboard.library.relational.validation import check_record

if TYPE_CHECKING:
    from collections.abc import Callable


def check_references(moment: WriteMoment, table: Described, values: Mapping[str, Any]) -> None:
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


Values = dict[str, Any]


class RowChanges:
    """The changes of one write."""

    def __init__(
        self,
        moment: WriteMoment,
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


Children = dict[str, list[Values]]
Prepare = Callable[[Described, Values], Values]
"""Completes the record of a child: names become ids."""


def split_children(
    tables: Tables, table: Described, record: Mapping[str, Any]
) -> tuple[Values, Children]:
    """Return a record's own columns, and the rows it brings along by relation."""
    own: Values = {}
    children: Children = {}
    for name, value in record.items():
        relation = table.relations.get(name)
        if relation is None or not relation.is_child:
            own[name] = value
        else:
            children[name] = _rows(tables, relation, value)
    return own, children


def write_children(
    changes: RowChanges, table: Described, owner: Values, children: Children, prepare: Prepare
) -> None:
    """Put rows in place of whatever their owner had of that kind."""
    for name, records in children.items():
        relation = table.relations[name]
        other = changes.tables[relation.table]
        _clear(changes, relation, other, owner)
        for position, record in enumerate(records):
            prepared = prepare(other, record)
            link: Values = {relation.remote: owner[relation.local]}
            if "position" in other.columns:
                link["position"] = position
            known = {k: v for k, v in prepared.items() if k not in link}
            values = check_record(other, {**known, **link}, is_whole=True)
            check_references(changes.moment, other, values)
            changes.insert(other, values)


def _rows(tables: Tables, relation: Relation, value: Any) -> list[Values]:
    """Return children as rows; a list of texts means rows with only a label."""
    if not isinstance(value, list):
        raise WriteError(
            "validation",
            f"{relation.name} is a list, not {str(value)[:60]!r}",
            column=relation.name,
        )
    label = tables[relation.table].label
    rows: list[Values] = []
    for each in cast("list[Any]", value):
        if isinstance(each, str):
            rows.append({label: each})
        elif isinstance(each, Mapping):
            rows.append(dict(cast("Mapping[str, Any]", each)))
        else:
            raise WriteError(
                "validation",
                f"{relation.name} holds {str(each)[:60]!r}, which is no row",
                column=relation.name,
            )
    return rows


def _clear(changes: RowChanges, relation: Relation, other: Described, owner: Values) -> None:
    from sqlalchemy import select

    query = select(other.table).where(
        other.table.c[relation.remote] == owner[relation.local],
        other.table.c[USER_ID] == changes.moment.who.user_id,
    )
    for row in list(changes.moment.connection.execute(query).mappings()):
        changes.delete(other, dict(row))

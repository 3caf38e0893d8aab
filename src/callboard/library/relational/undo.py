"""Undo: the log of what was written, and how the last turn that wrote is taken back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import UndoResult, WriteError, WriteOp, WritePreview
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.dates import stand_in_line
from callboard.library.relational.tables import Described, Tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Table


@dataclass(frozen=True, slots=True)
class LogTables:
    """The two tables of the log."""

    changes: "Table"
    outcomes: "Table"


def log_tables(metadata: "MetaData") -> LogTables:
    """Register the log in a domain's own database, beside the rows it is about."""
    from sqlalchemy import JSON, BigInteger, Column, Index, Integer, Table, Text

    if "write_log" in metadata.tables:
        return LogTables(metadata.tables["write_log"], metadata.tables["write_outcomes"])
    number = BigInteger().with_variant(Integer, "sqlite")
    changes = Table(
        "write_log",
        metadata,
        Column("seq", number, primary_key=True, autoincrement=True),
        Column("user_id", Text, nullable=False),
        Column("session_id", Text, nullable=False),
        Column("turn", Integer, nullable=False),
        Column("step_id", Text, nullable=False),
        Column("table_name", Text, nullable=False),
        Column("op", Text, nullable=False),
        Column("row_key", JSON, nullable=False),
        Column("label", Text, nullable=False),
        Column("before", JSON(none_as_null=True)),
        Column("after", JSON(none_as_null=True)),
        Column("at", Text, nullable=False),
        Column("undone_at", Text),
        Index("write_log_by_turn", "user_id", "session_id", "turn"),
    )
    outcomes = Table(
        "write_outcomes",
        metadata,
        Column("key", Text, primary_key=True),
        Column("result", JSON, nullable=False),
        Column("at", Text, nullable=False),
    )
    return LogTables(changes, outcomes)


Values = dict[str, Any]


# What an undo itself changes in a row: it may be undone once more for the turn before. A row that
# was changed and changed back holds what it held.
_TOUCHED_BY_UNDO: Final = ("version", "updated_at")


Asks = Callable[[list[Values]], list[str]]
"""Says why the human is asked before lines of the log are taken back."""


def undo_last_turn(
    connection: "Connection",
    who: Who,
    tables: Tables,
    log: LogTables,
    now: str,
    asks: Asks = lambda _entries: [],
    confirmed: WritePreview | None = None,
) -> UndoResult:
    """Take back the newest turn of a session that wrote and was not taken back.

    What the human must see first is refused with a preview of it; nothing has changed then.
    """
    from sqlalchemy import func, select, update

    stand_in_line(connection, who.user_id)
    changes = log.changes
    mine = (
        (changes.c.user_id == who.user_id)
        & (changes.c.session_id == who.session_id)
        & changes.c.undone_at.is_(None)
    )
    turn = connection.execute(select(func.max(changes.c.turn)).where(mine)).scalar()
    if turn is None:
        raise WriteError("not_found", "There is nothing to undo in this session")
    entries = [
        dict(row)
        for row in connection.execute(
            select(changes).where(mine, changes.c.turn == turn).order_by(changes.c.seq.desc())
        ).mappings()
    ]
    restored = removed = 0
    labels: list[str] = []
    notes: list[str] = []
    removed_ids: list[str] = []
    for entry in entries:
        table = tables[entry["table_name"]]
        _Undo(connection, table, entry, notes).perform()
        removed += entry["op"] == "insert"
        if entry["op"] == "insert" and "id" in entry["row_key"]:
            removed_ids.append(str(entry["row_key"]["id"]))
        restored += entry["op"] != "insert"
        if "version" in table.columns and entry["label"] not in labels:
            labels.append(entry["label"])
    _check_consent(entries, labels, asks(entries), confirmed)
    connection.execute(
        update(changes)
        .where(changes.c.seq.in_([entry["seq"] for entry in entries]))
        .values(undone_at=now)
    )
    return UndoResult(
        turn=turn,
        restored=restored,
        removed=removed,
        labels=labels[::-1],
        notes=notes,
        removed_ids=removed_ids,
    )


def _check_consent(
    entries: list[Values], labels: list[str], reasons: list[str], confirmed: WritePreview | None
) -> None:
    """Refuse to take back what the human must see first."""
    if not reasons:
        return
    preview = WritePreview(
        op=WriteOp.UPDATE,
        table=str(entries[0]["table_name"]),
        match_count=len(entries),
        labels=labels,
        row_versions={"turn": int(entries[0]["turn"])},
        reasons=reasons,
    )
    if confirmed is not None and confirmed == preview:
        return
    raise WriteError(
        "needs_confirmation",
        "; ".join(reasons),
        hint="Show the preview and ask; send it along to undo it all the same.",
        preview=preview,
    )


class _Undo:
    """One line of the log, taken back."""

    def __init__(
        self, connection: "Connection", table: Described, entry: Values, notes: list[str]
    ) -> None:
        self.connection = connection
        self.table = table
        self.entry = entry
        self.notes = notes

    def perform(self) -> None:
        """Take it back, unless something stands in its place or leans on it by now."""
        from sqlalchemy.exc import IntegrityError

        try:
            self._perform()
        except IntegrityError as error:
            raise self._changed("is in use, or its place is taken") from error

    def _perform(self) -> None:
        from sqlalchemy import delete, insert, update

        before, after = self.entry["before"], self.entry["after"]
        current = self._current()
        if after is None:
            if current is not None:
                raise self._changed("is there again")
            self.connection.execute(insert(self.table.table).values(**self._stored(before)))
            return
        if current is None:
            raise self._changed("is gone")
        if _differs(current, after):
            raise self._changed("was changed since")
        if before is None:
            self.connection.execute(delete(self.table.table).where(self._same()))
            return
        values = self._free_name(self._stored(before))
        # The version goes on: whoever saw the row before must notice that it changed.
        if "version" in values:
            values["version"] = current["version"] + 1
        self.connection.execute(update(self.table.table).where(self._same()).values(**values))

    def _current(self) -> Values | None:
        from sqlalchemy import select

        row = self.connection.execute(select(self.table.table).where(self._same())).mappings()
        found = row.first()
        return None if found is None else dict(found)

    def _same(self) -> Any:
        from sqlalchemy import and_

        key: Values = self.entry["row_key"]
        return and_(*(self.table.table.c[name] == value for name, value in key.items()))

    def _stored(self, row: Values) -> Values:
        """Return the columns that can be set: not those the database computes."""
        columns = self.table.table.c
        return {k: v for k, v in row.items() if columns[k].computed is None}

    def _free_name(self, values: Values) -> Values:
        """Give a row that comes back another name if its own was taken meanwhile."""
        from sqlalchemy import select

        table = self.table
        if table.name_key is None or table.archived is None or values.get(table.archived):
            return values
        key, name = table.name_key
        taken = self.connection.execute(
            select(table.table.c["id"]).where(
                table.table.c["user_id"] == values["user_id"],
                table.table.c[key] == values[key],
                table.table.c[table.archived].is_(None),
                table.table.c["id"] != values["id"],
            )
        ).first()
        if taken is None:
            return values
        renamed = f"{values[name]} (restored)"
        self.notes.append(f"{values[name]!r} came back as {renamed!r}: the name is in use")
        return {**values, name: renamed, key: name_key(renamed)}

    def _changed(self, how: str) -> WriteError:
        return WriteError(
            "conflict",
            f"{self.entry['label'] or 'A row'} of {self.table.name} {how}; nothing was undone",
            hint="Change it by hand.",
        )


def _differs(current: Values, after: Values) -> bool:
    return any(
        current.get(name) != value for name, value in after.items() if name not in _TOUCHED_BY_UNDO
    )

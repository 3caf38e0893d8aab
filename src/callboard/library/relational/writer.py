"""Writer: a request for a change, from its check to the rows as they are read back.

One request is one transaction. A request that was answered before is answered the same way again
and changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import (
    Merged,
    WriteError,
    WriteKey,
    WriteOp,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.core.canonical import digest
from callboard.library.relational.changes import (
    Prepare,
    RowChanges,
    check_references,
    split_children,
    write_children,
)
from callboard.library.relational.dates import Today, WriteMoment, stand_in_line
from callboard.library.relational.rules import (
    Previewer,
    check_consent,
    record_label,
)
from callboard.library.relational.tables import Described
from callboard.library.relational.undo import LogTables
from callboard.library.relational.validation import check_record, resolve_dates

if TYPE_CHECKING:
    from sqlalchemy import Connection

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowWriter(Previewer):
    """Writes rows of a domain, after a look at what a change would touch."""

    log: LogTables
    new_id: Callable[[], str]

    def preview(
        self, connection: "Connection", who: Who, today: Today, request: WriteRequest
    ) -> WritePreview:
        """Say what a change would touch, and why the human would be asked."""
        return self.look(WriteMoment(who, connection, today), request)[0]

    def write(
        self,
        connection: "Connection",
        who: Who,
        today: Today,
        request: WriteRequest,
        key: WriteKey,
        confirmed: WritePreview | None = None,
    ) -> WriteResult:
        """Change rows and return them as they are afterwards."""
        from sqlalchemy import insert, select
        from sqlalchemy.exc import IntegrityError

        stand_in_line(connection, who.user_id)
        name = _outcome_key(who, key, request)
        outcomes = self.log.outcomes
        known = connection.execute(select(outcomes.c.result).where(outcomes.c.key == name)).scalar()
        if known is not None:
            return WriteResult.model_validate(known)
        moment = WriteMoment(who, connection, today)
        preview, rows = self.look(moment, request)
        check_consent(preview, confirmed)
        key = self._numbered(moment, key)
        changes = RowChanges(moment, self.tables, self.log, key, self.new_id)
        try:
            result = self._apply(moment, changes, request, rows)
        except IntegrityError as error:
            raise WriteError(
                "duplicate",
                f"{request.table} already has one like it",
                hint="Change the one that is there.",
            ) from error
        self._check_turn(moment, key)
        connection.execute(
            insert(outcomes).values(key=name, result=result.model_dump(mode="json"), at=changes.now)
        )
        return result

    def _numbered(self, moment: WriteMoment, key: WriteKey) -> WriteKey:
        """Return a key with a turn: outside of a conversation the next that is free."""
        from sqlalchemy import func, select

        if key.turn is not None:
            return key
        log = self.log.changes
        newest = moment.connection.execute(
            select(func.coalesce(func.max(log.c.turn), 0)).where(
                log.c.user_id == moment.who.user_id, log.c.session_id == key.session_id
            )
        ).scalar_one()
        return key.model_copy(update={"turn": int(newest) + 1})

    def _apply(
        self, moment: WriteMoment, changes: RowChanges, request: WriteRequest, rows: list[Values]
    ) -> WriteResult:
        table = self.tables[request.table]
        match request.op:
            case WriteOp.CREATE | WriteOp.UPSERT:
                return self._add(moment, changes, table, request)
            case WriteOp.UPDATE:
                return self._update(moment, changes, table, request, rows)
            case WriteOp.DELETE:
                return self._delete(moment, changes, table, rows)

    def _add(
        self, moment: WriteMoment, changes: RowChanges, table: Described, request: WriteRequest
    ) -> WriteResult:
        added: list[Values] = []
        merged: list[Merged] = []
        for record in request.records:
            own, children = split_children(self.tables, table, record)
            values = self._values(moment, table, own, request.op)
            joined = self.rules.joined(moment, table, values)
            if joined is None:
                row = changes.insert(table, values, record_label(table, own))
            else:
                row = changes.update(table, joined.row, joined.values)
                label = self.rules.label(moment, table, row)
                merged.append(Merged(label=label, before=joined.before, after=joined.after))
            write_children(changes, table, row, children, self._preparing(moment))
            self.rules.after_change(moment, changes, table, row, values)
            added.append(self._verified(changes, table, row, values if joined is None else {}))
        return self._result(moment, table, request.op, added).model_copy(
            update={
                "created": len(added) - len(merged),
                "updated": len(merged),
                "merged": merged,
            }
        )

    def _update(
        self,
        moment: WriteMoment,
        changes: RowChanges,
        table: Described,
        request: WriteRequest,
        rows: Sequence[Values],
    ) -> WriteResult:
        own, children = split_children(self.tables, table, request.set)
        resolved = resolve_dates(table, own, moment.today)
        prepared = self.rules.prepare(moment, table, resolved, WriteOp.UPDATE)
        values = check_record(table, prepared, is_whole=False)
        check_references(moment, table, values)
        if not rows:
            raise WriteError(
                "not_found", "There is nothing like that", hint="Look for it by another name."
            )
        if not values and not children:
            raise WriteError("validation", "There is nothing to change", hint="Name a column.")
        updated: list[Values] = []
        for row in rows:
            label = self.rules.label(moment, table, row)
            after = changes.update(table, row, values, label) if values else row
            if children:
                write_children(changes, table, after, children, self._preparing(moment))
            self.rules.after_change(moment, changes, table, after, values)
            updated.append(self._verified(changes, table, after, {}))
        return self._result(moment, table, request.op, updated).model_copy(
            update={"updated": len(updated)}
        )

    def _delete(
        self, moment: WriteMoment, changes: RowChanges, table: Described, rows: Sequence[Values]
    ) -> WriteResult:
        if not rows:
            raise WriteError(
                "not_found", "There is nothing like that", hint="Look for it by another name."
            )
        labels = [self.rules.label(moment, table, row) for row in rows]
        for row, label in zip(rows, labels, strict=True):
            self.rules.before_delete(moment, changes, table, row)
            deletion = self.rules.deletion(moment, table, row)
            if deletion.instead is None:
                changes.delete(table, row, label)
            else:
                changes.update(table, row, deletion.instead, label)
        return WriteResult(
            op=WriteOp.DELETE,
            table=table.name,
            ids=[str(row["id"]) for row in rows if "id" in row],
            deleted=len(rows),
            notes=moment.notes,
            labels=labels,
        )

    def _values(self, moment: WriteMoment, table: Described, record: Values, op: WriteOp) -> Values:
        """Return what a new row holds."""
        resolved = resolve_dates(table, record, moment.today)
        prepared = self.rules.prepare(moment, table, resolved, op)
        values = check_record(table, prepared, is_whole=True)
        check_references(moment, table, values)
        return values

    def _preparing(self, moment: WriteMoment) -> Prepare:
        """Return what completes the rows that are written with their owner."""
        return lambda table, record: self.rules.prepare(moment, table, record, WriteOp.CREATE)

    def _verified(
        self, changes: RowChanges, table: Described, row: Values, meant: Values
    ) -> Values:
        """Read a row back and see that it holds what was meant; it may be gone by a rule."""
        if changes.has_deleted(table, row):
            return row
        found = changes.load(table, row)
        for column, value in meant.items():
            if found[column] != value:
                raise WriteError(
                    "conflict",
                    f"{table.name}.{column} was to be {value!r} and is {found[column]!r}",
                    column=column,
                )
        return found

    def _result(
        self, moment: WriteMoment, table: Described, op: WriteOp, rows: Sequence[Values]
    ) -> WriteResult:
        shown = [{name: row[name] for name in table.readable if name in row} for row in rows]
        return WriteResult(
            op=op,
            table=table.name,
            ids=[str(row["id"]) for row in rows if "id" in row],
            notes=moment.notes,
            rows=shown,
            labels=[self.rules.label(moment, table, row) for row in rows],
        )

    def _check_turn(self, moment: WriteMoment, key: WriteKey) -> None:
        from sqlalchemy import func, select

        log = self.log.changes
        count = moment.connection.execute(
            select(func.count(func.distinct(log.c.row_key.cast(_text_type())))).where(
                log.c.user_id == moment.who.user_id,
                log.c.session_id == key.session_id,
                log.c.turn == key.turn,
                log.c.table_name.in_(self._counted()),
            )
        ).scalar_one()
        if count > self.limits.rows_per_turn:
            raise WriteError(
                "limit",
                f"This turn would change {count} rows; {self.limits.rows_per_turn} are allowed",
                hint="Go on in the next message.",
            )

    def _counted(self) -> list[str]:
        """Return the tables whose rows count; children go with their owner."""
        return [name for name in self.tables.names() if "version" in self.tables[name].columns]


def _outcome_key(who: Who, key: WriteKey, request: WriteRequest) -> str:
    payload = request.model_dump(mode="json", by_alias=True)
    return digest([who.user_id, key.session_id, key.turn, key.step_id, payload])


def _text_type() -> Any:
    from sqlalchemy import Text

    return Text

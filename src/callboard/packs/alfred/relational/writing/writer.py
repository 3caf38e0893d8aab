"""Writer: a request for a change, from its check to the rows as they are read back.

One request is one transaction. A request that was answered before is answered the same way again
and changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
from callboard.packs.alfred.relational.filters import Today
from callboard.packs.alfred.relational.filters.dialects import Dialect
from callboard.packs.alfred.relational.reading import Reader
from callboard.packs.alfred.relational.tables import Described, Tables
from callboard.packs.alfred.relational.writing.changes import Changes
from callboard.packs.alfred.relational.writing.children import (
    Prepare,
    split_children,
    write_children,
)
from callboard.packs.alfred.relational.writing.log import LogTables
from callboard.packs.alfred.relational.writing.moment import Moment, stand_in_line
from callboard.packs.alfred.relational.writing.ownership import check_references
from callboard.packs.alfred.relational.writing.rules import Rules
from callboard.packs.alfred.relational.writing.validation import check_record, resolve_dates

if TYPE_CHECKING:
    from sqlalchemy import Connection

Values = dict[str, Any]
_SHOWN_LABELS: Final = 5


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """How much may be changed at once, and from when on the human is asked."""

    rows_per_request: int = 100
    rows_per_turn: int = 200
    confirm_delete_over: int = 1
    confirm_update_over: int = 10


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes rows of a domain."""

    tables: Tables
    rules: Rules
    log: LogTables
    dialect: Dialect
    new_id: Callable[[], str]
    limits: WriteLimits = WriteLimits()

    def preview(
        self, connection: "Connection", who: Who, today: Today, request: WriteRequest
    ) -> WritePreview:
        """Say what a change would touch, and why the human would be asked."""
        return self._preview(Moment(who, connection, today), request)[0]

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
        moment = Moment(who, connection, today)
        preview, rows = self._preview(moment, request)
        self._check_consent(preview, confirmed)
        key = self._numbered(moment, key)
        changes = Changes(moment, self.tables, self.log, key, self.new_id)
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

    def _numbered(self, moment: Moment, key: WriteKey) -> WriteKey:
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

    def _preview(self, moment: Moment, request: WriteRequest) -> tuple[WritePreview, list[Values]]:
        table = self._table(moment, request)
        rows = self._targets(moment, table, request)
        count = len(rows) if _needs_filter(request) else len(request.records)
        if count > self.limits.rows_per_request:
            raise WriteError(
                "limit",
                f"{count} rows of {table.name} are more than may be changed at once "
                f"({self.limits.rows_per_request})",
                hint="Narrow it down, and do it in parts.",
            )
        reasons = self._count_reasons(request, len(rows))
        reasons += self.rules.reasons(moment, table, request.op, rows, request.set)
        for record in request.records if request.op in _ADDING else []:
            reasons += self.rules.reasons(moment, table, request.op, [], record)
        labels = [self.rules.label(moment, table, row) for row in rows[:_SHOWN_LABELS]]
        labels = labels or [_record_label(table, each) for each in request.records[:_SHOWN_LABELS]]
        versions = {
            str(row["id"]): int(row["version"]) for row in rows if "version" in row and "id" in row
        }
        return WritePreview(
            op=request.op,
            table=table.name,
            match_count=count,
            labels=[label for label in labels if label],
            row_versions=versions,
            reasons=list(dict.fromkeys(reasons)),
        ), rows

    def _count_reasons(self, request: WriteRequest, count: int) -> list[str]:
        if request.op is WriteOp.DELETE and count > self.limits.confirm_delete_over:
            return [f"{count} rows would be deleted at once"]
        if request.op is WriteOp.UPDATE and count > self.limits.confirm_update_over:
            return [f"{count} rows would be changed at once"]
        return []

    def _check_consent(self, preview: WritePreview, confirmed: WritePreview | None) -> None:
        if not preview.needs_confirmation:
            return
        if confirmed is None:
            raise WriteError(
                "needs_confirmation",
                "; ".join(preview.reasons),
                hint="Show the preview and ask.",
                preview=preview,
            )
        was = (confirmed.op, confirmed.table, confirmed.match_count, confirmed.row_versions)
        now = (preview.op, preview.table, preview.match_count, preview.row_versions)
        if was != now:
            raise WriteError(
                "conflict",
                f"What was confirmed was {confirmed.match_count} rows of {confirmed.table}; "
                f"now it is {preview.match_count}, or they have changed",
                hint="Show the preview again and ask again.",
                preview=preview,
            )

    def _apply(
        self, moment: Moment, changes: Changes, request: WriteRequest, rows: list[Values]
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
        self, moment: Moment, changes: Changes, table: Described, request: WriteRequest
    ) -> WriteResult:
        added: list[Values] = []
        merged: list[Merged] = []
        for record in request.records:
            own, children = split_children(self.tables, table, record)
            values = self._values(moment, table, own, request.op)
            joined = self.rules.joined(moment, table, values)
            if joined is None:
                row = changes.insert(table, values, _record_label(table, own))
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
        moment: Moment,
        changes: Changes,
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
        self, moment: Moment, changes: Changes, table: Described, rows: Sequence[Values]
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

    def _values(self, moment: Moment, table: Described, record: Values, op: WriteOp) -> Values:
        """Return what a new row holds."""
        resolved = resolve_dates(table, record, moment.today)
        prepared = self.rules.prepare(moment, table, resolved, op)
        values = check_record(table, prepared, is_whole=True)
        check_references(moment, table, values)
        return values

    def _preparing(self, moment: Moment) -> Prepare:
        """Return what completes the rows that are written with their owner."""
        return lambda table, record: self.rules.prepare(moment, table, record, WriteOp.CREATE)

    def _verified(self, changes: Changes, table: Described, row: Values, meant: Values) -> Values:
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

    def _table(self, moment: Moment, request: WriteRequest) -> Described:
        reader = Reader(self.tables, moment.who.user_id, moment.today, self.dialect)
        table = reader.table(request.table)
        if not table.owned:
            raise WriteError(
                "validation",
                f"{table.name} is shared by everybody and is not written by request",
                hint="Write what refers to it; it is kept up by itself.",
            )
        return table

    def _targets(self, moment: Moment, table: Described, request: WriteRequest) -> list[Values]:
        """Return the rows a change is about; a filter that says nothing is refused."""
        from sqlalchemy import select

        if not _needs_filter(request):
            if not request.records:
                raise WriteError("validation", "There is nothing to add", hint="Give records.")
            return []
        if not request.filters:
            raise WriteError(
                "validation",
                f"A filter is needed to {request.op.value} rows of {table.name}",
                hint="Say which: a name, an id, a condition.",
            )
        reader = Reader(self.tables, moment.who.user_id, moment.today, self.dialect)
        where = reader.compiler.compile(table, request.filters)
        if table.archived:
            where = where & table.table.c[table.archived].is_(None)
        query = select(table.table).where(where).order_by(*table.table.primary_key.columns)
        rows = [dict(row) for row in moment.connection.execute(query).mappings()]
        for row in rows:
            _check_version(table, row, request)
        return rows

    def _result(
        self, moment: Moment, table: Described, op: WriteOp, rows: Sequence[Values]
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

    def _check_turn(self, moment: Moment, key: WriteKey) -> None:
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


_ADDING: Final = (WriteOp.CREATE, WriteOp.UPSERT)


def _needs_filter(request: WriteRequest) -> bool:
    return request.op in (WriteOp.UPDATE, WriteOp.DELETE)


def _check_version(table: Described, row: Values, request: WriteRequest) -> None:
    seen = request.versions.get(str(row.get("id")))
    if seen is not None and seen != row.get("version"):
        raise WriteError(
            "conflict",
            f"A row of {table.name} was changed by somebody else meanwhile",
            hint="Look at it again.",
        )


def _record_label(table: Described, record: Values) -> str:
    for name in (table.label, "name", "ingredient", "description"):
        if record.get(name):
            return str(record[name])
    return ""


def _outcome_key(who: Who, key: WriteKey, request: WriteRequest) -> str:
    payload = request.model_dump(mode="json", by_alias=True)
    return digest([who.user_id, key.session_id, key.turn, key.step_id, payload])


def _text_type() -> Any:
    from sqlalchemy import Text

    return Text

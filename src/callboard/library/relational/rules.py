"""Rules: what a domain adds to writing, how much is written at once, what a change would touch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pydantic import Field

from callboard.choreography.turn.requests import WriteError, WriteOp, WritePreview, WriteRequest
from callboard.library.relational.base import Dialect
from callboard.library.relational.changes import RowChanges, Values
from callboard.library.relational.dates import WriteMoment
from callboard.library.relational.reading import Reader
from callboard.library.relational.tables import Described, Tables
from callboard.studio.settings_files import PackSection


@dataclass(frozen=True, slots=True)
class Joined:
    """A row that takes up what was to be a row of its own."""

    row: Values
    values: Values
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Deletion:
    """How a row goes: for good, or by being changed instead."""

    instead: Values | None = None


class Rules(Protocol):
    """The rules of a domain. Each is called within the transaction of the write."""

    def prepare(self, moment: WriteMoment, table: Described, record: Values, op: WriteOp) -> Values:
        """Complete a record: names become ids, defaults are filled in; may raise `WriteError`."""
        ...

    def joined(self, moment: WriteMoment, table: Described, values: Values) -> Joined | None:
        """Return the row that a new one joins, if there is one."""
        ...

    def reasons(
        self,
        moment: WriteMoment,
        table: Described,
        op: WriteOp,
        rows: Sequence[Values],
        values: Values,
    ) -> list[str]:
        """Return why the human is asked before this, besides how many rows it touches."""
        ...

    def reasons_to_undo(self, moment: WriteMoment, entries: Sequence[Values]) -> list[str]:
        """Return why the human is asked before lines of the log are taken back.

        Called when they have been, in the transaction that a refusal undoes.
        """
        ...

    def deletion(self, moment: WriteMoment, table: Described, row: Values) -> Deletion:
        """Say how a row goes."""
        ...

    def before_delete(
        self, moment: WriteMoment, changes: RowChanges, table: Described, row: Values
    ) -> None:
        """Put in order what refers to a row that goes."""
        ...

    def after_change(
        self,
        moment: WriteMoment,
        changes: RowChanges,
        table: Described,
        row: Values,
        values: Values,
    ) -> None:
        """Let what follows from a change happen, in the same transaction."""
        ...

    def label(self, moment: WriteMoment, table: Described, row: Values) -> str:
        """Return how people name a row."""
        ...


class PlainRules:
    """The rules of a domain that has none of its own."""

    def prepare(self, moment: WriteMoment, table: Described, record: Values, op: WriteOp) -> Values:
        """Take a record as it is."""
        return record

    def joined(self, moment: WriteMoment, table: Described, values: Values) -> Joined | None:
        """Join nothing."""
        return None

    def reasons(
        self,
        moment: WriteMoment,
        table: Described,
        op: WriteOp,
        rows: Sequence[Values],
        values: Values,
    ) -> list[str]:
        """Ask about nothing more."""
        return []

    def reasons_to_undo(self, moment: WriteMoment, entries: Sequence[Values]) -> list[str]:
        """Ask about nothing."""
        return []

    def deletion(self, moment: WriteMoment, table: Described, row: Values) -> Deletion:
        """Let a row go for good, or archive it where the table knows how."""
        if table.archived is None:
            return Deletion()
        return Deletion({table.archived: moment.today.now.isoformat()})

    def before_delete(
        self, moment: WriteMoment, changes: RowChanges, table: Described, row: Values
    ) -> None:
        """Have nothing to put in order."""

    def after_change(
        self,
        moment: WriteMoment,
        changes: RowChanges,
        table: Described,
        row: Values,
        values: Values,
    ) -> None:
        """Let nothing follow."""

    def label(self, moment: WriteMoment, table: Described, row: Values) -> str:
        """Return what the table says its rows are called."""
        return str(row.get(table.label) or row.get("id") or "")


_SHOWN_LABELS: Final = 5
_ADDING: Final = (WriteOp.CREATE, WriteOp.UPSERT)


class WriteLimits(PackSection):
    """How much may be changed at once, and from when on the human is asked."""

    rows_per_request: int = Field(default=100, ge=1, le=100)
    rows_per_turn: int = Field(default=200, ge=1, le=1000)
    confirm_delete_over: int = Field(default=1, ge=0, le=100)
    confirm_update_over: int = Field(default=10, ge=0, le=100)


@dataclass(frozen=True, slots=True)
class Previewer:
    """Looks at what a request is about and changes nothing."""

    tables: Tables
    rules: Rules
    dialect: Dialect
    limits: WriteLimits

    def look(self, moment: WriteMoment, request: WriteRequest) -> tuple[WritePreview, list[Values]]:
        """Return what a change would touch, and the rows themselves."""
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
        labels = labels or [record_label(table, each) for each in request.records[:_SHOWN_LABELS]]
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

    def _table(self, moment: WriteMoment, request: WriteRequest) -> Described:
        reader = Reader(self.tables, moment.who.user_id, moment.today, self.dialect)
        table = reader.table(request.table)
        if not table.owned:
            raise WriteError(
                "validation",
                f"{table.name} is shared by everybody and is not written by request",
                hint="Write what refers to it; it is kept up by itself.",
            )
        return table

    def _targets(
        self, moment: WriteMoment, table: Described, request: WriteRequest
    ) -> list[Values]:
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


def check_consent(preview: WritePreview, confirmed: WritePreview | None) -> None:
    """Refuse a change the human must see first, or that is no longer what they saw."""
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
    unseen = [each for each in preview.reasons if each not in confirmed.reasons]
    if was == now and unseen:
        raise WriteError(
            "conflict",
            f"What was confirmed did not say this: {'; '.join(unseen)}",
            hint="Show the preview again and ask again.",
            preview=preview,
        )
    if was != now:
        raise WriteError(
            "conflict",
            f"What was confirmed was {confirmed.match_count} rows of {confirmed.table}; "
            f"now it is {preview.match_count}, or they have changed",
            hint="Show the preview again and ask again.",
            preview=preview,
        )


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


def record_label(table: Described, record: Values) -> str:
    """Return how people would name a row that is not there yet."""
    for name in (table.label, "name", "ingredient", "description"):
        if record.get(name):
            return str(record[name])
    return ""

"""Reading: one user's rows, as a request asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from callboard.choreography.turn.requests import (
    QueryError,
    ReadRequest,
    ReadResult,
)
from callboard.library.relational.base import Dialect
from callboard.library.relational.dates import Today
from callboard.library.relational.filters import FilterCompiler
from callboard.library.relational.tables import Described, Relation, Tables

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads rows of one user at one moment."""

    tables: Tables
    user_id: str
    today: Today
    dialect: Dialect

    def read(self, connection: "Connection", request: ReadRequest) -> ReadResult:
        """Return what a request asks for; what it cannot ask for raises `QueryError`."""
        from sqlalchemy import func, select

        table = self.table(request.table)
        where = self.compiler.compile(table, request.filters)
        if table.archived and not request.include_archived:
            where = where & table.table.c[table.archived].is_(None)
        total = int(connection.execute(select(func.count()).where(where)).scalar_one())
        if request.count_only:
            return ReadResult(rows=[], row_count=0, total_count=total)
        if request.group_by or request.aggregates:
            return self._grouped(connection, table, request, where)
        rows = self._rows(connection, table, request, where)
        for name in request.include:
            self._include(connection, table, _relation(table, name), rows)
        kept = _columns(table, request)
        shown = [_shown(row, kept, request.include) for row in rows]
        is_cut = total > request.offset + len(rows)
        return ReadResult(rows=shown, row_count=len(shown), total_count=total, truncated=is_cut)

    def table(self, name: str) -> Described:
        """Return a table by its name, or say which there are."""
        found = self.tables.find(name)
        if found is None:
            raise QueryError(
                "unknown_table",
                f"There is no table {name!r}",
                field=name,
                allowed=list(self.tables.names()),
            )
        return found

    @property
    def compiler(self) -> FilterCompiler:
        """What compiles filters here."""
        return FilterCompiler(self.tables, self.user_id, self.today, self.dialect)

    def _rows(
        self, connection: "Connection", table: Described, request: ReadRequest, where: Any
    ) -> list[dict[str, Any]]:
        from sqlalchemy import select

        query = select(table.table).where(where).limit(request.limit).offset(request.offset)
        for ordering in request.order_by:
            column = table.table.c[_own_column(table, ordering.column)]
            query = query.order_by(column.desc() if ordering.dir == "desc" else column.asc())
        # The same question gives the same order.
        query = query.order_by(*table.table.primary_key.columns)
        return [dict(row) for row in connection.execute(query).mappings()]

    def _grouped(
        self, connection: "Connection", table: Described, request: ReadRequest, where: Any
    ) -> ReadResult:
        from sqlalchemy import func, select

        keys = [table.table.c[_own_column(table, name)] for name in request.group_by]
        figures = [_figure(table, each.fn, each.column) for each in request.aggregates]
        figures = figures or [func.count().label("count")]
        query = select(*keys, *figures).where(where).group_by(*keys).order_by(*keys)
        groups = select(*keys, func.count().label("rows")).where(where).group_by(*keys).subquery()
        total = int(connection.execute(select(func.count()).select_from(groups)).scalar_one())
        page = query.limit(request.limit).offset(request.offset)
        rows = [dict(row) for row in connection.execute(page).mappings()]
        is_cut = total > request.offset + len(rows)
        return ReadResult(rows=rows, row_count=len(rows), total_count=total, truncated=is_cut)

    def _include(
        self,
        connection: "Connection",
        table: Described,
        relation: Relation,
        rows: Sequence[dict[str, Any]],
    ) -> None:
        """Put related rows into each row; all of them are fetched at once."""
        from sqlalchemy import select

        other = self.tables[relation.table]
        wanted = {row[relation.local] for row in rows} - {None}
        query = select(other.table).where(
            other.table.c[relation.remote].in_(wanted),
            self.compiler.scope(other),
        )
        if "position" in other.columns:
            query = query.order_by(other.table.c["position"])
        query = query.order_by(*other.table.primary_key.columns)
        found = [dict(row) for row in connection.execute(query).mappings()]
        if relation.through is not None:
            self._include(connection, other, relation.through, found)
        nested = () if relation.through is None else (relation.through.name,)
        by_key: dict[Any, list[dict[str, Any]]] = {}
        for row in found:
            shown = _shown(row, other.readable, nested)
            by_key.setdefault(row[relation.remote], []).append(_flat(shown, relation, self.tables))
        for row in rows:
            related = by_key.get(row[relation.local], [])
            row[relation.name] = related if relation.many else (related[0] if related else None)


def _columns(table: Described, request: ReadRequest) -> tuple[str, ...]:
    if request.columns is None:
        return table.readable
    return tuple(_own_column(table, name) for name in request.columns)


def _own_column(table: Described, name: str) -> str:
    if name in table.readable:
        return name
    raise QueryError(
        "unknown_column",
        f"{table.name} has no column {name!r}",
        field=name,
        allowed=list(table.readable),
    )


def _relation(table: Described, name: str) -> Relation:
    found = table.relations.get(name)
    if found is None:
        raise QueryError(
            "unknown_column",
            f"{table.name} leads to no {name!r}",
            field=name,
            allowed=list(table.relations),
        )
    return found


def _figure(table: Described, name: str, column: str | None) -> Any:
    from sqlalchemy import func

    if column is None:
        if name != "count":
            raise QueryError(
                "bad_value", f"{name} needs a column", field=name, allowed=list(table.readable)
            )
        return func.count().label("count")
    own = _own_column(table, column)
    if name in ("sum", "avg") and table.columns[own].kind not in ("integer", "number"):
        numbers = [e for e in table.readable if table.columns[e].kind in ("integer", "number")]
        raise QueryError("bad_value", f"{own!r} is no number", field=own, allowed=numbers)
    return getattr(func, name)(table.table.c[own]).label(f"{name}_{own}")


def _shown(row: dict[str, Any], columns: Sequence[str], also: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in (*columns, *also) if name in row}


def _flat(row: dict[str, Any], relation: Relation, tables: Tables) -> dict[str, Any]:
    """Say by name what a line is about, instead of nesting a row in a row."""
    if relation.through is None:
        return row
    beyond = row.pop(relation.through.name, None)
    label = tables[relation.through.table].label
    return {**row, label: None if beyond is None else beyond[label]}

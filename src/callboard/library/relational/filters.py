"""Compiling: a filter becomes a SQLAlchemy expression with bound values.

Names are looked up, never passed on; values are only ever parameters. Null behaves as in SQL: what
is unknown matches neither a condition nor its negation.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.requests import (
    AllOf,
    AnyOf,
    Condition,
    Filter,
    NotOf,
    Operator,
    QueryError,
)
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Dialect
from callboard.library.relational.dates import Today
from callboard.library.relational.fields import (
    OPERATORS,
    FilterField,
    check_complexity,
    find_field,
    typed_list,
    typed_value,
)
from callboard.library.relational.tables import USER_ID, Described, Relation, Tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

_ESCAPE: Final = "\\"


class FilterCompiler:
    """Compiles filters for one user and one moment."""

    def __init__(self, tables: Tables, user_id: str, today: Today, dialect: Dialect) -> None:
        """Take the tables, whose rows count, what day it is, and the dialect."""
        self._tables = tables
        self._user_id = user_id
        self._today = today
        self._dialect = dialect

    def compile(self, table: Described, filters: Sequence[Filter]) -> "ColumnElement[bool]":
        """Return everything that must hold: the user's own rows, and all filters."""
        from sqlalchemy import and_, true

        check_complexity(filters)
        parts = [self._part(table, each) for each in filters]
        return and_(self.scope(table), *parts) if parts else and_(self.scope(table), true())

    def scope(self, table: Described, sa_table: Any = None) -> "ColumnElement[bool]":
        """Return the condition that keeps one user's rows apart from everybody else's."""
        from sqlalchemy import true

        source = table.table if sa_table is None else sa_table
        if table.visible is not None and sa_table is None:
            # What a user's own rows lead to they know already.
            return table.visible(source, self._user_id)
        return source.c[USER_ID] == self._user_id if table.owned else true()

    def _part(self, table: Described, part: Filter) -> "ColumnElement[bool]":
        from sqlalchemy import and_, false, not_, or_, true

        match part:
            case AllOf(and_=parts):
                return and_(true(), *(self._part(table, each) for each in parts))
            case AnyOf(or_=parts):
                return or_(false(), *(self._part(table, each) for each in parts))
            case NotOf(not_=inner):
                return not_(self._part(table, inner))
            case Condition():
                return self._condition(table, part)

    def _condition(self, table: Described, condition: Condition) -> "ColumnElement[bool]":
        if condition.op is Operator.SEARCH:
            return self._search(table, condition)
        field = find_field(self._tables, table, condition.field)
        if field.relation is None:
            return self._compare(field, table.table, condition)
        if condition.op in (Operator.CS, Operator.OV):
            return self._related_list(table, field, condition)
        return self._exists(table, field, condition)

    def _related_list(
        self, table: Described, field: FilterField, condition: Condition
    ) -> "ColumnElement[bool]":
        """Return whether related rows hold all of some values, or any of them."""
        from sqlalchemy import and_, false, or_, true

        values = typed_list(field.column, condition.value, self._today, condition.field)
        singles = [
            self._exists(
                table, field, Condition(field=condition.field, op=Operator.EQ, value=value)
            )
            for value in values
        ]
        if condition.op is Operator.CS:
            return and_(true(), *singles)
        return or_(false(), *singles)

    def _exists(
        self, table: Described, field: FilterField, condition: Condition
    ) -> "ColumnElement[bool]":
        """Return whether a related row meets a condition; rows are never multiplied by it."""
        from sqlalchemy import exists

        relation = field.relation
        assert relation is not None  # noqa: S101 - asked by the caller
        other = self._tables[relation.table]
        near: Any = other.table.alias()
        joined: list[Any] = [
            near.c[relation.remote] == table.table.c[relation.local],
            self.scope(other, near),
        ]
        target: Any = near
        if field.through is not None:
            target = self._through(field.through, near, joined)
        joined.append(self._compare(field, target, condition))
        return exists().where(*joined)

    def _through(self, through: Relation, near: Any, joined: list[Any]) -> Any:
        beyond = self._tables[through.table]
        target: Any = beyond.table.alias()
        joined += [
            target.c[through.remote] == near.c[through.local],
            self.scope(beyond, target),
        ]
        return target

    def _compare(
        self, field: FilterField, source: Any, condition: Condition
    ) -> "ColumnElement[bool]":
        from sqlalchemy import not_

        facts, op = field.column, condition.op
        if op not in OPERATORS[facts.kind]:
            raise QueryError(
                "bad_operator",
                f"{condition.field!r} is of kind {facts.kind} and cannot be compared by {op.value}",
                field=condition.field,
                allowed=sorted(each.value for each in OPERATORS[facts.kind]),
            )
        column = source.c[facts.name]
        if op is Operator.IS:
            return _is(column, facts.kind, condition)
        if op in (Operator.CS, Operator.OV):
            values = typed_list(facts, condition.value, self._today, condition.field)
            return self._list_holds(column, values, all_of=op is Operator.CS)
        if op in (Operator.LIKE, Operator.ILIKE):
            return self._like(field, source, condition)
        if op is Operator.IN:
            values = typed_list(facts, condition.value, self._today, condition.field)
            return self._named(field, source, values) if _is_name(field) else column.in_(values)
        if op is Operator.BETWEEN:
            return self._between(column, field, condition)
        value = typed_value(facts, condition.value, self._today, condition.field)
        if op in _EQUALITY and _is_name(field):
            is_it = self._named(field, source, [value])
            return is_it if op is Operator.EQ else _or_null(not_(is_it), column, op)
        return _COMPARISONS[op](column, value)

    def _between(
        self, column: Any, field: FilterField, condition: Condition
    ) -> "ColumnElement[bool]":
        values = typed_list(field.column, condition.value, self._today, condition.field)
        if len(values) != 2:
            raise QueryError(
                "bad_value",
                f"{condition.field!r} lies between two values, not {len(values)}",
                field=condition.field,
                allowed=["[from, to]"],
            )
        return column.between(values[0], values[1])

    def _named(
        self, field: FilterField, source: Any, names: Sequence[str]
    ) -> "ColumnElement[bool]":
        """Return whether a row goes by one of some names: by its key, or by an alias of it."""
        from sqlalchemy import select

        assert field.owner.name_key is not None  # noqa: S101 - asked by the caller
        column = source.c[field.owner.name_key[0]]
        keys = [name_key(each) for each in names]
        aliases = field.owner.aliases
        if aliases is None:
            return column.in_(keys)
        known = select(aliases.name_key).where(aliases.joined, aliases.alias_key.in_(keys))
        return column.in_(keys) | column.in_(known.correlate(None))

    def _like(self, field: FilterField, source: Any, condition: Condition) -> "ColumnElement[bool]":
        pattern = condition.value
        if not isinstance(pattern, str):
            raise QueryError(
                "bad_value",
                f"{condition.field!r} is compared with {str(pattern)[:80]!r}, which is no pattern",
                field=condition.field,
                allowed=["text with % or *"],
            )
        column = source.c[field.column.name]
        escaped = pattern.replace(_ESCAPE, _ESCAPE * 2).replace("_", f"{_ESCAPE}_")
        escaped = escaped.replace("*", "%")
        if condition.op is Operator.LIKE:
            return column.like(escaped, escape=_ESCAPE)
        return self._dialect.fold(column).like(escaped.casefold(), escape=_ESCAPE)

    def _list_holds(
        self, column: Any, values: Sequence[Any], *, all_of: bool
    ) -> "ColumnElement[bool]":
        """Return whether a list in a column holds all of some values, or any of them."""
        from sqlalchemy import and_, false, or_, true

        singles = [self._dialect.list_holds(column, value) for value in values]
        return and_(true(), *singles) if all_of else or_(false(), *singles)

    def _search(self, table: Described, condition: Condition) -> "ColumnElement[bool]":
        """Return whether any of a table's texts holds what is looked for."""
        from sqlalchemy import false, func, or_

        wanted = condition.value
        if not isinstance(wanted, str) or not wanted.strip():
            raise QueryError(
                "bad_value", "There is nothing to search for", field="search", allowed=["text"]
            )
        escaped = _escaped(wanted.strip().casefold())
        found = [
            self._dialect.fold(table.table.c[name]).like(f"%{escaped}%", escape=_ESCAPE)
            for name in table.searched
        ]
        # What is unknown does not hold the text; it is no reason to know nothing.
        return or_(false(), *(func.coalesce(each, false()) for each in found))


def _is(column: Any, kind: str, condition: Condition) -> "ColumnElement[bool]":
    value = condition.value
    if isinstance(value, str):
        value = {"null": None, "true": True, "false": False}.get(value.casefold(), value)
    if value is None:
        return column.is_(None)
    if isinstance(value, bool) and kind == "boolean":
        return column.is_(value)
    raise QueryError(
        "bad_value",
        f"{condition.field!r} cannot be {str(condition.value)[:80]!r}",
        field=condition.field,
        allowed=["null", "true", "false"] if kind == "boolean" else ["null"],
    )


def _escaped(text: str) -> str:
    for sign in (_ESCAPE, "%", "_"):
        text = text.replace(sign, f"{_ESCAPE}{sign}")
    return text


def _is_name(field: FilterField) -> bool:
    """Say whether a column is compared by its key."""
    key = field.owner.name_key
    return key is not None and key[1] == field.column.name


def _or_null(told: Any, column: Any, op: Operator) -> "ColumnElement[bool]":
    return told | column.is_(None) if op is Operator.NEQ_OR_NULL else told


_EQUALITY: Final = frozenset({Operator.EQ, Operator.NEQ, Operator.NEQ_OR_NULL})
_COMPARISONS: Final[dict[Operator, Callable[[Any, Any], Any]]] = {
    Operator.EQ: lambda column, value: column == value,
    Operator.NEQ: lambda column, value: column != value,
    Operator.NEQ_OR_NULL: lambda column, value: (column != value) | column.is_(None),
    Operator.GT: lambda column, value: column > value,
    Operator.GTE: lambda column, value: column >= value,
    Operator.LT: lambda column, value: column < value,
    Operator.LTE: lambda column, value: column <= value,
}

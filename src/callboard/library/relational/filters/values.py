"""Values of a filter, brought to the type of their column, or refused by name."""

from collections.abc import Callable
from datetime import date
from typing import Any, Final, cast

from callboard.choreography.turn.requests import Operator, QueryError
from callboard.library.relational.filters.dates import (
    Today,
    is_token,
    moment_of,
    resolve_date,
)
from callboard.library.relational.tables import ColumnFacts

_COMPARING: Final = {Operator.GT, Operator.GTE, Operator.LT, Operator.LTE, Operator.BETWEEN}
_EQUAL: Final = {Operator.EQ, Operator.NEQ, Operator.NEQ_OR_NULL, Operator.IN}
_LIKE: Final = {Operator.LIKE, Operator.ILIKE}
_LISTS: Final = {Operator.CS, Operator.OV}
OPERATORS: Final[dict[str, frozenset[Operator]]] = {
    "text": frozenset(_EQUAL | _LIKE | _COMPARING | {Operator.IS, Operator.SEARCH}),
    "integer": frozenset(_EQUAL | _COMPARING | {Operator.IS}),
    "number": frozenset(_EQUAL | _COMPARING | {Operator.IS}),
    "boolean": frozenset({Operator.EQ, Operator.NEQ, Operator.NEQ_OR_NULL, Operator.IS}),
    "date": frozenset(_EQUAL | _COMPARING | {Operator.IS}),
    "datetime": frozenset(_EQUAL | _COMPARING | {Operator.IS}),
    "list": frozenset(_LISTS | {Operator.IS}),
    "json": frozenset({Operator.IS}),
}


def typed_value(facts: ColumnFacts, value: Any, today: Today, field: str) -> Any:
    """Return one value in the type of its column."""
    return _READERS[facts.kind](facts, value, today, field)


def typed_list(facts: ColumnFacts, value: Any, today: Today, field: str) -> list[Any]:
    """Return a list of values in the type of their column."""
    if not isinstance(value, list):
        raise _bad(field, value, "a list")
    return [typed_value(facts, each, today, field) for each in cast("list[Any]", value)]


def _text(facts: ColumnFacts, value: Any, _today: Today, field: str) -> str:
    if not isinstance(value, str):
        raise _bad(field, value, "text")
    if facts.enum and value.casefold() not in facts.enum:
        raise QueryError(
            "bad_value",
            f"{field!r} is never {value!r}",
            field=field,
            allowed=list(facts.enum),
        )
    return value.casefold() if facts.enum else value


def _number(_facts: ColumnFacts, value: Any, _today: Today, field: str) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise _bad(field, value, "a number")
    if abs(value) > 2**53:
        raise _bad(field, value, "a number of a usual size")
    return value


def _boolean(_facts: ColumnFacts, value: Any, _today: Today, field: str) -> bool:
    if not isinstance(value, bool):
        raise _bad(field, value, "true or false")
    return value


def _date(_facts: ColumnFacts, value: Any, today: Today, field: str) -> str:
    if is_token(value):
        return resolve_date(value, today, as_moment=False, field=field)
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        raise _bad(field, value, "a date such as 2026-05-17 or @today+3d") from None


def _datetime(_facts: ColumnFacts, value: Any, today: Today, field: str) -> str:
    if is_token(value):
        return resolve_date(value, today, as_moment=True, field=field)
    try:
        return moment_of(str(value))
    except (ValueError, OverflowError):
        raise _bad(field, value, "a moment such as 2026-05-17T18:00 or @now") from None


def _bad(field: str, value: Any, wanted: str) -> QueryError:
    return QueryError(
        "bad_value",
        f"{field!r} is compared with {str(value)[:80]!r}, which is not {wanted}",
        field=field,
        allowed=[wanted],
    )


_READERS: Final[dict[str, Callable[[ColumnFacts, Any, Today, str], Any]]] = {
    "text": _text,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "datetime": _datetime,
    "list": _text,
    "json": _text,
}

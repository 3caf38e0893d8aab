"""Fields: what a filter may name, which values it may compare, and how much of it at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, cast

from callboard.choreography.turn.requests import (
    AllOf,
    AnyOf,
    Condition,
    Filter,
    NotOf,
    Operator,
    QueryError,
)
from callboard.library.relational.dates import Today, is_token, moment_of, resolve_date
from callboard.library.relational.tables import ColumnFacts, Described, Relation, Tables


@dataclass(frozen=True, slots=True)
class FilterField:
    """A column, and the way to it: none, one relation, or two."""

    column: ColumnFacts
    owner: Described
    relation: Relation | None = None
    through: Relation | None = None


def find_field(tables: Tables, table: Described, name: str) -> FilterField:
    """Return what a name means in a table, or say what there is."""
    own, _, rest = name.partition(".")
    if not rest:
        if own in table.relations and table.relations[own].many:
            return _sole_column(tables, table.relations[own])
        return FilterField(_column(table, own, name), table)
    relation = table.relations.get(own)
    if relation is None:
        raise _unknown(name, list(table.readable) + [f"{each}.…" for each in table.relations])
    other = tables[relation.table]
    if rest in other.columns and not other.columns[rest].hidden:
        return FilterField(other.columns[rest], other, relation)
    if relation.through is not None:
        beyond = tables[relation.through.table]
        return FilterField(_column(beyond, rest, name), beyond, relation, relation.through)
    return FilterField(_column(other, rest, name), other, relation)


def _sole_column(tables: Tables, relation: Relation) -> FilterField:
    """Return what `tags` means by itself: the label of the rows it leads to."""
    other = tables[relation.table]
    if relation.through is not None:
        beyond = tables[relation.through.table]
        return FilterField(beyond.columns[beyond.label], beyond, relation, relation.through)
    return FilterField(other.columns[other.label], other, relation)


def _column(table: Described, column: str, name: str) -> ColumnFacts:
    facts = table.columns.get(column)
    if facts is None or facts.hidden:
        raise _unknown(name, list(table.readable))
    return facts


def _unknown(name: str, allowed: list[str]) -> QueryError:
    from rapidfuzz import process

    near = process.extractOne(name, allowed, score_cutoff=60)
    return QueryError(
        "unknown_column",
        f"There is no field {name!r}",
        field=name,
        allowed=allowed,
        hint=f"Did you mean {near[0]!r}?" if near else "",
    )


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


MOST_CONDITIONS: Final = 20
DEEPEST: Final = 3
LONGEST_LIST: Final = 100
LONGEST_TEXT: Final = 20_000


def check_complexity(filters: Sequence[Filter]) -> None:
    """Refuse filters that ask for too much at once."""
    conditions = sum(_count(each, 0) for each in filters)
    if conditions > MOST_CONDITIONS:
        raise QueryError(
            "too_complex",
            f"The filter has {conditions} conditions; {MOST_CONDITIONS} are allowed",
            allowed=[],
            hint="Split the question in two.",
        )


def _count(part: Filter, depth: int) -> int:
    if depth > DEEPEST:
        raise QueryError(
            "too_complex",
            f"The filter is nested deeper than {DEEPEST} levels",
            allowed=[],
            hint="Write it flatter.",
        )
    match part:
        case Condition():
            _check_size(part)
            return 1
        case AllOf(and_=parts) | AnyOf(or_=parts):
            return sum(_count(each, depth + 1) for each in parts)
        case NotOf(not_=inner):
            return _count(inner, depth + 1)


def _check_size(condition: Condition) -> None:
    value = condition.value
    if isinstance(value, list) and len(value) > LONGEST_LIST:  # pyright: ignore[reportUnknownArgumentType]
        raise QueryError(
            "too_complex",
            f"The list for {condition.field!r} has more than {LONGEST_LIST} values",
            field=condition.field,
            allowed=[],
        )
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise QueryError(
            "too_complex",
            f"The text for {condition.field!r} has more than {LONGEST_TEXT} characters",
            field=condition.field,
            allowed=[],
        )

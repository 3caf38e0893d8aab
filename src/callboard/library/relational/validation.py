"""Validation: what rows may hold, and what a domain adds to that by its rules."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)

from callboard.choreography.turn.requests import WriteError
from callboard.core.parsing import misfit
from callboard.library.relational.dates import Today, is_token, moment_of, resolve_date
from callboard.library.relational.tables import ColumnFacts, Described

_DECIMALS: Final = 3
_LONGEST_TEXT: Final = 20_000


def check_record(table: Described, record: Mapping[str, Any], *, is_whole: bool) -> dict[str, Any]:
    """Return what a record sets; a whole one must have everything that is required.

    Values that were not given are left to the database's defaults.
    """
    _refuse_columns(table, record)
    model = _model(_Key(table), is_whole)
    try:
        checked = model.model_validate(dict(record))
    except ValidationError as error:
        raise _told(table, error) from None
    return checked.model_dump(exclude_unset=True)


def resolve_dates(table: Described, record: Mapping[str, Any], today: Today) -> dict[str, Any]:
    """Return a record with words such as `@today` as the dates they mean."""
    resolved = dict(record)
    for name, value in record.items():
        facts = table.columns.get(name)
        if facts is not None and facts.kind in ("date", "datetime") and is_token(value):
            resolved[name] = resolve_date(
                value, today, as_moment=facts.kind == "datetime", field=name
            )
    return resolved


class _Key:
    """Makes a description usable as a key: it is made once per process and compared by name."""

    def __init__(self, table: Described) -> None:
        self.table = table

    def __hash__(self) -> int:
        return hash((self.table.name, id(self.table.table)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.table.table is other.table.table


@cache
def _model(key: _Key, is_whole: bool) -> type[BaseModel]:
    table = key.table
    fields: dict[str, Any] = {}
    for column in table.writable:
        facts = table.columns[column]
        kind = _type(facts)
        if not facts.required:
            kind = kind | None if not _has_default(table, column) else kind
        default: Any = ... if is_whole and facts.required else None
        fields[column] = (kind, Field(default=default))
    return create_model(
        f"{table.name}_record", __config__=ConfigDict(extra="forbid", strict=False), **fields
    )


def _has_default(table: Described, column: str) -> bool:
    return not table.table.c[column].nullable


def _type(facts: ColumnFacts) -> Any:
    bounds: dict[str, Any] = dict(facts.bounds)
    match facts.kind:
        case "integer":
            return Annotated[int, Field(**bounds)]
        case "number":
            return Annotated[float, Field(allow_inf_nan=False, **bounds), AfterValidator(_rounded)]
        case "boolean":
            return bool
        case "date":
            return Annotated[str, AfterValidator(_date)]
        case "datetime":
            return Annotated[str, AfterValidator(moment_of)]
        case "list":
            return list[Annotated[str, Field(max_length=_LONGEST_TEXT)]]
        case "json":
            return dict[str, Any] | list[Any]
        case "text":
            return _text(facts)


def _text(facts: ColumnFacts) -> Any:
    if facts.enum:
        allowed = facts.enum

        def known(value: Any) -> str:
            folded = str(value).casefold().strip().replace(" ", "_")
            if folded not in allowed:
                raise ValueError(f"it is one of {', '.join(allowed)}")
            return folded

        return Annotated[str, BeforeValidator(known)]
    least = 1 if facts.required else 0
    return Annotated[str, Field(min_length=least, max_length=_LONGEST_TEXT), AfterValidator(_clean)]


def _clean(value: str) -> str:
    """Drop what no text holds: a zero byte ends texts in some databases."""
    return value.replace("\x00", "").strip()


def _rounded(value: float) -> float:
    return round(value, _DECIMALS)


def _date(value: str) -> str:
    return date.fromisoformat(value[:10]).isoformat()


def _refuse_columns(table: Described, record: Mapping[str, Any]) -> None:
    for name in record:
        facts = table.columns.get(name)
        if facts is not None and facts.writable and not facts.hidden:
            continue
        if facts is not None:
            raise WriteError(
                "validation",
                f"{table.name}.{name} is set by Callboard, not by a request",
                column=name,
                hint=f"Leave it out. What can be set: {', '.join(table.writable)}.",
            )
        from rapidfuzz import process

        near = process.extractOne(name, table.writable, score_cutoff=60)
        raise WriteError(
            "validation",
            f"{table.name} has no column {name!r}",
            column=name,
            hint=f"Did you mean {near[0]!r}?"
            if near
            else f"What can be set: {', '.join(table.writable)}.",
        )


def _told(table: Described, error: ValidationError) -> WriteError:
    problem = error.errors(include_url=False)[0]
    column = str(problem["loc"][0]) if problem["loc"] else ""
    value = problem.get("input")
    shown = str(value)[:80] if not isinstance(value, dict) else ""
    if problem["type"] == "missing":
        return WriteError(
            "validation", f"{table.name} needs {column}", column=column, hint=f"Give {column}."
        )
    return WriteError(
        "validation",
        f"{table.name}.{column} cannot be {shown!r}: {misfit(problem)}",
        column=column,
        value=shown,
    )

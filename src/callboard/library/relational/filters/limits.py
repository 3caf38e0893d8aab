"""How much a filter may hold. Deeper or longer ones are refused before anything is compiled."""

from collections.abc import Sequence
from typing import Final

from callboard.choreography.turn.requests import (
    AllOf,
    AnyOf,
    Condition,
    Filter,
    NotOf,
    QueryError,
)

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

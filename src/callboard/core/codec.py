"""Codec: frozen dataclasses as JSON and back, by their types. Knows no shape by name.

A field's alias is its key in JSON, a tuple is a list, an enumeration its value; keys nobody knows
are left out when a value is read.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

from callboard.core.canonical import Json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def encode(value: object) -> Json:
    """Return a value as JSON holds it, in the shape of its class."""
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True)


def decode(shape: type[T], data: Json) -> T:
    """Read a value of a shape from what JSON holds; what does not fit it is refused."""
    return _adapter(shape).validate_python(data)


class Coded:
    """A frozen dataclass whose stored shape is its fields."""

    __slots__ = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return encode(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored shape."""
        return decode(cls, data)


@cache
def _adapter(shape: type[Any]) -> "TypeAdapter[Any]":
    # Heavy, and not every start needs it.
    from pydantic import TypeAdapter

    return TypeAdapter(shape)

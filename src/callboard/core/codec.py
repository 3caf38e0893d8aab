"""Codec: frozen dataclasses as JSON and back, by their types. Knows no shape by name.

A tuple is a list, an enumeration its value; keys nobody knows are left out when a value is read.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from callboard.core.canonical import Json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def encode(value: object) -> Json:
    """Return a value as JSON holds it, in the shape of its class."""
    return _adapter(type(value)).dump_python(value, mode="json")


def decode(shape: type[T], data: Json) -> T:
    """Read a value of a shape from what JSON holds; what does not fit it is refused."""
    return _adapter(shape).validate_python(data)


class Coded:
    """A frozen dataclass whose stored shape is its fields; `KEYS` are fields stored by other names.

    They are other names of this class only: values within a value are stored under their fields.
    """

    __slots__ = ()
    KEYS: ClassVar[Mapping[str, str]] = {}

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        shape: dict[str, Json] = encode(self)
        return {self.KEYS.get(name, name): value for name, value in shape.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored shape."""
        names = {key: name for name, key in cls.KEYS.items()}
        return decode(cls, {names.get(key, key): value for key, value in data.items()})


class Closed:
    """A frozen dataclass that doors read as it is: a key that means nothing is an error."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


@cache
def _adapter(shape: type[Any]) -> "TypeAdapter[Any]":
    # Heavy, and not every start needs it.
    from pydantic import TypeAdapter

    return TypeAdapter(shape)

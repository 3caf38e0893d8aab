"""References: `{"$ref": "slot.field[0].name"}`, read strictly and followed without expressions.

Dots go into objects, `[N]` into lists. A value on the way that is absent or null ends the way, with
an error that names the whole path and the segment. Refuses wildcards, filters and negative numbers
when a recipe is read, not when it runs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from callboard.choreography.recipe.errors import RefResolutionError, RefSyntaxError
from callboard.core.canonical import Json

REF_KEY: Final = "$ref"
TASK: Final = "task"

_SEGMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)((?:\[(?:0|[1-9][0-9]{0,8})\])*)")
_INDEX: Final = re.compile(r"\[([0-9]+)\]")
_MAX_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class RefSegment:
    """One part between dots: a name, and the places in lists that follow it."""

    text: str
    name: str
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference as written, split into its segments."""

    path: str
    segments: tuple[RefSegment, ...]

    @property
    def root(self) -> str:
        """What it starts from: `task` or the name of a slot."""
        return self.segments[0].name

    @property
    def task_arg(self) -> str | None:
        """The argument of the task it reads, if it does."""
        names = [segment.name for segment in self.segments[:3]]
        is_arg = len(names) == 3 and names[0] == TASK and names[1] in ("args", "initial_args")
        return names[2] if is_arg else None


@lru_cache(maxsize=1024)
def parse_ref(path: str) -> Ref:
    """Read a reference; anything but names, dots and places in lists is refused."""
    if not path or len(path) > _MAX_CHARS:
        raise RefSyntaxError(
            f"{path[:80]!r} is not a reference", fix="Write slot.field or slot.list[0].field."
        )
    segments: list[RefSegment] = []
    for text in path.split("."):
        match = _SEGMENT.fullmatch(text)
        if match is None:
            raise RefSyntaxError(
                f"The reference {path!r} has the segment {text!r}, which cannot be read",
                fix="Use names, dots between them and [0], [1], … for lists. There are no"
                " wildcards, filters, negative numbers or expressions.",
                path=path,
                segment=text,
            )
        indexes = tuple(int(number) for number in _INDEX.findall(match[2]))
        segments.append(RefSegment(text, match[1], indexes))
    return Ref(path, tuple(segments))


def is_ref(value: Json) -> bool:
    """Say whether a value is a reference object."""
    return isinstance(value, dict) and REF_KEY in value


def find_refs(value: Json, where: str = "") -> Iterator[tuple[str, Json]]:
    """Yield every reference in a value, unread, with the field it stands in."""
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value)
        if REF_KEY in pairs:
            yield where, pairs
            return
        for key, each in pairs.items():
            yield from find_refs(each, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for number, each in enumerate(cast(list[Any], value)):
            yield from find_refs(each, f"{where}[{number}]")


def read_ref(value: Json) -> Ref:
    """Read a reference object, which holds nothing but its path."""
    pairs = cast(dict[str, Any], value)
    path = pairs.get(REF_KEY)
    if set(pairs) != {REF_KEY} or not isinstance(path, str):
        raise RefSyntaxError(
            f"{pairs!r} is not a reference", fix='Write {"$ref": "slot.field"} and nothing else.'
        )
    return parse_ref(path)


def follow(ref: Ref, roots: Mapping[str, Json]) -> Json:
    """Return the value a reference leads to; null and absent are the same: an error."""
    first = ref.segments[0]
    value = _enter(ref, first, roots.get(first.name))
    for segment in ref.segments[1:]:
        if not isinstance(value, dict):
            raise RefResolutionError(ref.path, segment.text, f"is asked of {_kind(value)}")
        value = _enter(ref, segment, cast(dict[str, Any], value).get(segment.name))
    return value


def resolve(value: Json, roots: Mapping[str, Json]) -> Json:
    """Return a value with every reference in it replaced, types kept, literals untouched."""
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value)
        if REF_KEY in pairs:
            return follow(read_ref(pairs), roots)
        return {key: resolve(each, roots) for key, each in pairs.items()}
    if isinstance(value, list):
        return [resolve(each, roots) for each in cast(list[Any], value)]
    return value


def _enter(ref: Ref, segment: RefSegment, value: Json) -> Json:
    if value is None:
        raise RefResolutionError(ref.path, segment.text, "is absent or null")
    for index in segment.indexes:
        if not isinstance(value, list):
            raise RefResolutionError(ref.path, segment.text, f"counts into {_kind(value)}")
        items = cast(list[Any], value)
        if index >= len(items):
            told = f"is beyond the end of a list of {len(items)}"
            raise RefResolutionError(ref.path, segment.text, told)
        value = items[index]
        if value is None:
            raise RefResolutionError(ref.path, segment.text, "is absent or null")
    return value


def _kind(value: Json) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return f"the {'text' if isinstance(value, str) else 'value'} {str(value)[:40]!r}"

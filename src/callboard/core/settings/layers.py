"""Layers of settings: plain data with a name and a source, merged deeply in a fixed order.

What was wrong in one is said so that the user can mend it, and never shows a secret.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, cast

from callboard.core.canonical import Json, plain
from callboard.core.places import without_user
from callboard.core.settings.schema import Key
from callboard.core.words import shorten


class LayerName(StrEnum):
    """Where settings come from, weakest first."""

    DEFAULTS = "defaults"
    PROJECT = "project"
    USER = "user"
    LOCAL = "local"
    ENVIRONMENT = "environment"
    FLAGS = "flags"


PRECEDENCE: tuple[LayerName, ...] = tuple(LayerName)

OWN: Final = frozenset({LayerName.USER, LayerName.ENVIRONMENT, LayerName.FLAGS})
"""The layers that only the user writes. A project's folder, `local/` included, may be a clone."""


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """What one source says; `sources` names a variable or file for single keys."""

    name: LayerName
    source: str
    data: Mapping[str, Json] = field(default_factory=dict[str, Json])
    sources: Mapping[Key, str] = field(default_factory=dict[Key, str])

    def source_of(self, key: Key) -> str:
        """Return the variable or file that set a key of this layer."""
        for length in range(len(key), 0, -1):
            if key[:length] in self.sources:
                return self.sources[key[:length]]
        return self.source


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """Which layer set a key, and from where."""

    layer: LayerName
    source: str


def in_order(layers: Iterable[SettingsLayer]) -> list[SettingsLayer]:
    """Return layers weakest first."""
    return sorted(layers, key=lambda layer: PRECEDENCE.index(layer.name))


def merge(lower: Mapping[str, Json], higher: Mapping[str, Json]) -> dict[str, Json]:
    """Merge mappings recursively; in any other conflict the higher layer wins."""
    merged = dict(lower)
    for name, value in higher.items():
        below, above = as_mapping(merged.get(name)), as_mapping(value)
        if below is not None and above is not None:
            merged[name] = merge(below, above)
        else:
            merged[name] = value
    return merged


def as_mapping(value: Json) -> Mapping[str, Json] | None:
    """Return a value as a mapping, if it is one."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else None


def with_text_names(data: Mapping[Any, Json]) -> dict[str, Json]:
    """Return data whose names are all text; YAML also knows numbers and booleans as names."""
    named: dict[str, Json] = {}
    for name, value in data.items():
        below = as_mapping(value)
        named[str(name)] = value if below is None else with_text_names(below)
    return named


def nest(key: Key, value: Json) -> dict[str, Json]:
    """Return data that holds one value at a key."""
    for name in reversed(key[1:]):
        value = {name: value}
    return {key[0]: value}


def has(data: Mapping[str, Json], key: Key) -> bool:
    """Say whether data holds something at a key."""
    return len(existing(data, key)) == len(key)


def existing(data: Mapping[str, Json], key: Key) -> Key:
    """Return the longest part of a key that data holds."""
    below: Mapping[str, Json] | None = data
    for length, name in enumerate(key):
        if below is None or name not in below:
            return key[:length]
        below = as_mapping(below[name])
    return key


def get(data: Mapping[str, Json], key: Key) -> Json:
    """Return what stands at a key that data holds."""
    value: Json = data
    for name in key:
        value = value[name]
    return value


def without(data: Mapping[str, Json], key: Key) -> dict[str, Json]:
    """Return data with nothing at a key it holds."""
    copy = dict(data)
    if len(key) == 1:
        del copy[key[0]]
    else:
        copy[key[0]] = without(copy[key[0]], key[1:])
    return copy


def leaves(data: Mapping[str, Json], key: Key = ()) -> Iterator[tuple[Key, Json]]:
    """Yield every value that is not itself a mapping with content."""
    for name, value in data.items():
        below = as_mapping(value)
        if below:
            yield from leaves(below, (*key, name))
        else:
            yield (*key, name), value


_SECRET: Final = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)
_LONGEST: Final = 60


class WarningKind(StrEnum):
    """What kind of thing was wrong."""

    UNREADABLE = "unreadable_file"
    BAD_VALUE = "bad_value"
    UNKNOWN_KEY = "unknown_key"
    UNKNOWN_VARIABLE = "unknown_variable"
    RESTRICTED = "restricted_key"


@dataclass(frozen=True, slots=True)
class SettingsWarning:
    """One thing that was wrong: where, which key, what was rejected, what is used instead."""

    kind: WarningKind
    layer: LayerName
    source: str
    message: str
    key: str = ""
    rejected: str = ""
    used: str = ""
    line: int | None = None

    @property
    def stops_reload(self) -> bool:
        """Whether a reload is refused for it; what only a restart can mend never does."""
        if self.layer is LayerName.FLAGS:
            return False
        if self.kind is WarningKind.UNREADABLE:
            return True
        return self.kind is WarningKind.BAD_VALUE and self.layer is not LayerName.ENVIRONMENT

    def __str__(self) -> str:
        """Return one line: where, then what."""
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{where}: {self.message}"


def show(key: Key, value: Json) -> str:
    """Return a value as it may be shown: short, and hidden where a secret could stand."""
    if key and _SECRET.search(key[-1]) and value is not None:
        return "(hidden)"
    text = without_user(json.dumps(plain(value), ensure_ascii=False))
    return shorten(text, _LONGEST)

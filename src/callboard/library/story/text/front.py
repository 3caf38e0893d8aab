"""Front matter and `Key: value` lines: what a file says about itself. Trusts neither.

Values stay as they are written, except lists, decimal numbers and true or false: a date, a time of
day or `010` must not turn into something the author did not write.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

import yaml

from callboard.core.canonical import Json

FIELD_LINES: Final = 15
_LARGEST_CHARS: Final = 65_536
_MOST_VALUES: Final = 5_000
_DEEPEST: Final = 20
_FIELD: Final = re.compile(
    r"^\s*(?:[-*+]\s+)?(?:\*\*|__)?(?P<key>[^\W\d_][\w /\-]{0,30}?)(?:\*\*|__)?\s*[::]"
    r"(?:\*\*|__)?\s+(?P<value>\S.*)$"
)
_KEY_LINE: Final = re.compile(r"^\s*[\w][\w \-]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class FileFront:
    """What stands between the two rules at the top; `line_count` lines belong to it."""

    values: Mapping[str, Json]
    line_count: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FieldLine:
    """One `Key: value` line."""

    key: str
    value: str
    line: int


def read_front(lines: Sequence[str]) -> FileFront:
    """Take the front matter off the top of a file, however broken it is."""
    end = _closing_line(lines)
    if end is None:
        return FileFront({})
    inside = lines[1:end]
    text = "\n".join(inside)
    if len(text) > _LARGEST_CHARS:
        return FileFront({}, end + 1, f"front matter is longer than {_LARGEST_CHARS} characters")
    try:
        _refuse_depth(text)
        found = _plain(yaml.load(text, Loader=_loader()), _Budget())  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if not any(_KEY_LINE.match(line) for line in inside[:3]):
            return FileFront({})
        return FileFront({}, end + 1, f"front matter is not YAML ({_told(error)})")
    if found is None:
        return FileFront({}, end + 1)
    if not isinstance(found, dict):
        # Text between two rules at the top of a file is a passage, not a description.
        return FileFront({})
    values = cast("dict[str, Json]", found)
    return FileFront({key.strip().lower(): values[key] for key in values}, end + 1)


def read_fields(lines: Sequence[str], after_line: int) -> tuple[FieldLine, ...]:
    """Return the `Key: value` lines among the first lines after a given one; keys lower-cased."""
    found: list[FieldLine] = []
    for number, line in enumerate(lines[after_line : after_line + FIELD_LINES], after_line + 1):
        told = read_field(line)
        if told is not None:
            found.append(FieldLine(told[0], told[1], number))
    return tuple(found)


def read_field(line: str) -> tuple[str, str] | None:
    """Return the key, lower-cased, and the value of one `Key: value` line."""
    hit = _FIELD.match(line)
    if hit is None:
        return None
    return hit["key"].strip().lower(), hit["value"].strip().strip("*_").strip()


def _closing_line(lines: Sequence[str]) -> int | None:
    if not lines or lines[0].rstrip() != "---":
        return None
    for number, line in enumerate(lines[1:1_000], start=1):
        if line.rstrip() in ("---", "..."):
            return number
    return None


def _refuse_depth(text: str) -> None:
    """Refuse nesting before it is read: the C loader goes down until the process is gone."""
    most = sum(text.count(opener) for opener in ("[", "{", "- ", "? ", "\n")) + 1
    if most <= _DEEPEST:
        return
    depth = 0
    for event in cast("Any", yaml).parse(text, Loader=_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"nested deeper than {_DEEPEST}")


class _Budget:
    def __init__(self) -> None:
        self.left = _MOST_VALUES

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ValueError(f"more than {_MOST_VALUES} values")


def _plain(value: Any, budget: _Budget, depth: int = 0) -> Json:
    # Aliases make a small file an enormous value, so every value is counted where it is used.
    budget.spend()
    if depth > _DEEPEST:
        raise ValueError(f"nested deeper than {_DEEPEST}")
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {str(key): _plain(each, budget, depth + 1) for key, each in items}
    if isinstance(value, list):
        return [_plain(each, budget, depth + 1) for each in cast("list[Any]", value)]
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _told(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    # One line for the rule above, one because YAML counts from zero.
    return f"line {mark.line + 2}: {problem}" if mark is not None else str(problem)


_IMPLICIT: Final[tuple[tuple[str, str, str], ...]] = (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE|yes|Yes|no|No)$", "tTfFyYnN"),
    ("tag:yaml.org,2002:int", r"^(?:0|-?[1-9][0-9]{0,17})$", "-0123456789"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
)


@cache
def _loader() -> Any:
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for tag, pattern, starts in _IMPLICIT:
        for start in starts:
            table.setdefault("" if start == "\0" else start, []).append((tag, re.compile(pattern)))
    return type("FrontLoader", (base,), {"yaml_implicit_resolvers": table})

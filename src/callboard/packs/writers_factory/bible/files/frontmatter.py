"""Front matter of a template file: every value as written, every problem with its line.

Nothing is guessed. Dates, numbers and words like `no` stay the text the writer typed; aliases,
depth and size that only an attack needs are refused.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import yaml

from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem, refuse_traps

LARGEST_BYTES: Final = 1_000_000
_LARGEST_FRONT_CHARS: Final = 200_000
_DEEPEST: Final = 12
_RULE: Final = "---"


class FrontProblem(Exception):
    """Why a file cannot be read, and in which line."""

    def __init__(self, message: str, line: int | None = None) -> None:
        """Take the reason and the line, counted from one."""
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Front:
    """The values above a text, the line of each, and the text below."""

    values: dict[str, Json]
    lines: dict[str, int]
    body: str


def read_front(data: bytes) -> Front:
    """Take a file apart, or raise `FrontProblem`; a file without front matter is all body."""
    text = _decode(data)
    lines = text.split("\n")
    if lines[0].rstrip() != _RULE:
        return Front({}, {}, text)
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == _RULE), None)
    if end is None:
        raise FrontProblem("opens its front matter with --- and never closes it with another", 1)
    inside = "\n".join(lines[1:end])
    if len(inside) > _LARGEST_FRONT_CHARS:
        raise FrontProblem(f"has front matter of more than {_LARGEST_FRONT_CHARS} characters", 1)
    values, at = _read_yaml(inside)
    return Front(values, at, "\n".join(lines[end + 1 :]))


def write_front(values: dict[str, Json], body: str) -> str:
    """Put values above a text, readable for people."""
    told = yaml.dump(
        values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=96, indent=2
    )
    return f"{_RULE}\n{told}{_RULE}\n{body}"


def _decode(data: bytes) -> str:
    if len(data) > LARGEST_BYTES:
        raise FrontProblem(f"is larger than {LARGEST_BYTES} bytes")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise FrontProblem("is not a text: it holds zero bytes", line)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontProblem("is not UTF-8 text", line) from error
    return text.replace("\r\n", "\n")


def _read_yaml(text: str) -> tuple[dict[str, Json], dict[str, int]]:
    # One line for the rule above, one because YAML counts from zero.
    try:
        refuse_traps(text, _DEEPEST)
        node = _compose(text)
    except FileProblem as problem:
        line = None if problem.line is None else problem.line + 1
        raise FrontProblem(problem.message, line) from problem
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "a mistake"
        line = None if mark is None else mark.line + 2
        raise FrontProblem(f"is not valid YAML: {reason}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise FrontProblem(f"is not valid YAML: {reason}", _line_of(error, text)) from error
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        line = int(node.start_mark.line) + 2
        raise FrontProblem("has no `key: value` lines between its --- rules", line)
    return _mapping(node)


def _compose(text: str) -> Any:
    untyped = cast("Any", yaml)
    return untyped.compose(text, Loader=yaml.SafeLoader)


def _line_of(error: Exception, text: str) -> int | None:
    position = getattr(error, "position", None)
    return None if position is None else text.count("\n", 0, position) + 2


def _mapping(node: Any) -> tuple[dict[str, Json], dict[str, int]]:
    values: dict[str, Json] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = int(key.start_mark.line) + 2
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        if not name:
            raise FrontProblem("has a key that is not a word", line)
        if name in values:
            raise FrontProblem(f"says {name} twice, first in line {lines[name]}", line)
        values[name] = _plain(value)
        lines[name] = line
    return values, lines


def _plain(node: Any) -> Json:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)[0]
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each) for each in cast("list[Any]", node.value)]
    is_nothing = node.tag.endswith(":null") and node.style is None
    return None if is_nothing else str(node.value)


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as one block, the way people write it."""


def _represent_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)

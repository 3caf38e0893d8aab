"""One settings file: YAML that holds a mapping, read without trusting who wrote it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError

_LARGEST_BYTES: Final = 1_000_000
_DEEPEST: Final = 50


class FileProblem(CallboardError):
    """Why a settings file cannot be read, and in which line."""

    code = "unreadable_settings"

    def __init__(self, message: str, line: int | None = None) -> None:
        """Take the reason and the line, counted from one."""
        super().__init__(message)
        self.line = line


FileContent = bytes | str | None
"""What lies at a path: its bytes, or in words why they cannot be read, or nothing."""


def read_settings_file(file: Path) -> FileContent:
    """Read a file without judging it; equal results mean that nothing has changed."""
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return error.strerror or str(error)


def parse_settings_file(content: FileContent, *, must_exist: bool = False) -> dict[str, Json]:
    """Return what a file holds, or raise `FileProblem`; no file and an empty one hold nothing."""
    if content is None:
        if must_exist:
            raise FileProblem("does not exist, but a variable names it")
        return {}
    if isinstance(content, str):
        raise FileProblem(f"cannot be read ({content})")
    if len(content) > _LARGEST_BYTES:
        raise FileProblem(f"is larger than {_LARGEST_BYTES} bytes")
    try:
        data = _parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileProblem("is not UTF-8 text", line) from error
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise FileProblem(f"holds a {type(data).__name__} where settings (key: value) are expected")
    return dict(cast("Mapping[str, Json]", data))


def _parse(text: str) -> Any:
    import yaml

    try:
        refuse_traps(text)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        reason = error.problem or error.context or "a mistake"
        raise FileProblem(f"is not valid YAML: {reason}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileProblem(f"is not valid YAML: {reason}") from error


def refuse_traps(text: str, deepest: int = _DEEPEST) -> None:
    """Raise `FileProblem` for YAML that only an attack needs; other mistakes are yaml's own errors.

    A few nested aliases expand to gigabytes, and deep nesting takes hours to read. A project's
    file is written by a stranger.
    """
    import yaml

    depth = -1  # the stream itself is the first thing to start
    for token in cast(
        "Iterable[yaml.Token]",
        yaml.scan(text, yaml.SafeLoader),  # pyright: ignore[reportUnknownMemberType]
    ):
        name = type(token).__name__
        line = token.start_mark.line + 1
        if isinstance(token, yaml.AliasToken):
            raise FileProblem("uses a YAML alias (*name); write the value out", line)
        depth += name.endswith("StartToken") - name.endswith("EndToken")
        if depth > deepest:
            raise FileProblem(f"nests more than {deepest} levels deep", line)

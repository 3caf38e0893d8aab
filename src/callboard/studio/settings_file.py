"""One settings file: YAML that holds a mapping, read without trusting who wrote it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem, decode_text, parse_yaml
from callboard.store.reading import FileRefused, read_bounded

_LARGEST_BYTES: Final = 1_000_000

FileContent = bytes | str | None
"""What lies at a path: its bytes, or in words why they cannot be read, or nothing."""


def read_settings_file(file: Path, within: Path | None = None) -> FileContent:
    """Read a file without judging it; equal results mean that nothing has changed.

    A file of a project is named together with the folder it must lie `within`, without links; the
    user's own may be a link to wherever they keep it.
    """
    try:
        return read_bounded(
            file, limit_bytes=_LARGEST_BYTES, within=within, follow_links=within is None
        )
    except FileNotFoundError:
        return None
    except FileRefused as refused:
        return refused.reason


def parse_settings_file(content: FileContent, *, must_exist: bool = False) -> dict[str, Json]:
    """Return what a file holds, or raise `FileProblem`; no file and an empty one hold nothing."""
    if content is None:
        if must_exist:
            raise FileProblem("does not exist, but a variable names it")
        return {}
    if isinstance(content, str):
        raise FileProblem(content)
    data = parse_yaml(decode_text(content))
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise FileProblem(f"holds a {type(data).__name__} where settings (key: value) are expected")
    return dict(cast("Mapping[str, Json]", data))

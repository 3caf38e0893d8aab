"""Settings files: YAML that holds a mapping, read without trusting who wrote it.

A pack's settings come with it, and a project's own lie over them, key by key.

A value of the project that has no such key or does not fit is reported and left out; what comes
with the pack stays in force.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem, decode_text, misfit, parse_yaml
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


M = TypeVar("M", bound=BaseModel)
_Values = dict[str, dict[str, Json]]


class PackSection(BaseModel):
    """A group of settings: closed, and the same for as long as it is held."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class PackSettingsRead(Generic[M]):
    """The settings in force, and what was wrong in the project's own file."""

    values: M
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackSettings(Generic[M]):
    """Where a pack's settings come from. Values of `secret` sections are never quoted."""

    model: type[M]
    package: str
    # As it is told to the user: it lies where Callboard keeps what it adds to the project.
    project_file: str
    secret: tuple[str, ...] = ()

    def read(self, kept: Path) -> PackSettingsRead[M]:
        """Return the settings of a project, from where Callboard keeps its own."""
        return _merged(self, read_settings_file(kept / Path(self.project_file).name, kept))

    def bundled(self) -> M:
        """Return the settings of a project that changes none."""
        return _merged(self, None).values


@lru_cache(maxsize=64)
def _merged(source: PackSettings[M], content: FileContent) -> PackSettingsRead[M]:
    values = _own(source.package)
    try:
        own = parse_settings_file(content)
    except FileProblem as problem:
        kept = source.model.model_validate(values)
        return PackSettingsRead(kept, (f"{source.project_file} {problem.message}",))
    warnings: list[str] = []
    for name, section in own.items():
        if name not in values or not isinstance(section, Mapping):
            told = f"{name} is no section; there are {', '.join(values)}"
            warnings.append(f"{source.project_file}: {told}")
            continue
        for key, value in cast("Mapping[str, Any]", section).items():
            warnings += _take(source, values, (name, key), value)
    return PackSettingsRead(source.model.model_validate(values), tuple(warnings))


def _take(
    source: PackSettings[Any], values: _Values, place: tuple[str, str], value: Any
) -> list[str]:
    """Put one value in, unless it does not fit; then say so."""
    name, key = place
    before = dict(values[name])
    values[name][key] = value
    try:
        source.model.model_validate(values)
    except ValidationError as error:
        values[name] = before
        told = misfit(error.errors(include_url=False)[0])
        shown = "the value" if name in source.secret else repr(value)
        return [f"{source.project_file}: {name}.{key} = {shown} is left out: {told}"]
    return []


def _own(package: str) -> _Values:
    # A project's own values are put into it.
    return deepcopy(bundled_yaml(package, "settings.yaml"))

"""The settings of a pack: a file that comes with it, and a project's own over it, key by key.

A value of the project that has no such key or does not fit is reported and left out; what comes
with the pack stays in force.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem
from callboard.studio.settings_file import (
    FileContent,
    parse_settings_file,
    read_settings_file,
)

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
        told = error.errors(include_url=False)[0]["msg"]
        shown = "the value" if name in source.secret else repr(value)
        return [f"{source.project_file}: {name}.{key} = {shown} is left out: {told}"]
    return []


def _own(package: str) -> _Values:
    # A project's own values are put into it.
    return deepcopy(bundled_yaml(package, "settings.yaml"))

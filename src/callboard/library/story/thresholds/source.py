"""Where thresholds come from: the file beside this module, and `.callboard/story.yaml` over it.

A value of the project that has no such key or the wrong type is reported and left out: a tool
never fails on its settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem
from callboard.studio.settings_files import (
    FileContent,
    parse_settings_file,
    read_settings_file,
)
from callboard.tools import ToolContext

PROJECT_FILE: Final = ".callboard/story.yaml"
S = TypeVar("S", bound="Section")


class Section(BaseModel):
    """One tool's thresholds; `section` is its key in the file, which holds every value."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    section: ClassVar[str]


@dataclass(frozen=True)
class Thresholds:
    """The thresholds in force for one project."""

    values: Mapping[str, Mapping[str, Json]]
    warnings: tuple[str, ...] = ()
    _sections: dict[type[Section], Section] = field(
        default_factory=dict[type[Section], Section], repr=False, compare=False
    )

    def section(self, model: type[S]) -> S:
        """Return one tool's thresholds."""
        if model not in self._sections:
            self._sections[model] = self._read(model)
        return cast("S", self._sections[model])

    def _read(self, model: type[S]) -> S:
        try:
            return model.model_validate(self.values[model.section])
        except ValidationError:
            # A number out of its range: this section as it comes with Callboard.
            return model.model_validate(bundled()[model.section])


def thresholds(context: ToolContext) -> Thresholds:
    """Return the thresholds of the project a tool works in."""
    kept = context.files.kept
    content = None if kept is None else read_settings_file(kept / Path(PROJECT_FILE).name, kept)
    return context.kept.get(("story thresholds", content), lambda: _merged(content))


@cache
def bundled_thresholds() -> Thresholds:
    """Return the thresholds of a project that changes none."""
    return _merged(None)


def bundled() -> Mapping[str, Mapping[str, Json]]:
    """Return the thresholds that come with Callboard."""
    return bundled_yaml("callboard.library.story.thresholds", "thresholds.yaml")


def _merged(content: FileContent) -> Thresholds:
    try:
        own = parse_settings_file(content)
    except FileProblem as problem:
        return Thresholds(bundled(), (f"{PROJECT_FILE} {problem.message}",))
    values: dict[str, dict[str, Json]] = {name: dict(bundled()[name]) for name in bundled()}
    warnings: list[str] = []
    for name, section in own.items():
        if name not in values or not isinstance(section, Mapping):
            warnings.append(f"{PROJECT_FILE}: there is no section {name}")
            continue
        for key, value in cast("Mapping[str, Json]", section).items():
            if not _fits(values[name].get(key), value):
                warnings.append(f"{PROJECT_FILE}: {name}.{key} cannot be {value!r}")
                continue
            values[name][key] = value
    return Thresholds(values, tuple(warnings))


def _fits(known: Any, value: Any) -> bool:
    if isinstance(known, bool) or isinstance(value, bool):
        return isinstance(known, bool) and isinstance(value, bool)
    if isinstance(known, int | float):
        return isinstance(value, int | float) and value >= 0
    return known is not None and type(known) is type(value)

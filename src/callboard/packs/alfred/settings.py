"""The settings of Alfred: the file beside this module, and a project's own over it.

A value of the project that has no such key or does not fit is reported and left out; what comes
with Callboard stays in force.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from callboard.core.canonical import Json
from callboard.studio.settings_file import (
    FileContent,
    FileProblem,
    parse_settings_file,
    read_settings_file,
)

PROJECT_FILE: Final = ".callboard/alfred.yaml"
_PACKAGE: Final = "callboard.packs.alfred"
_ADDRESSES: Final = ("sqlite:///", "postgresql+psycopg://", "postgresql://")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DatabaseSettings(_Section):
    """Where the kitchen's data lies."""

    url: str

    @field_validator("url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if value and not value.startswith(_ADDRESSES):
            raise ValueError(f"an address starts with one of {', '.join(_ADDRESSES)}")
        if value.startswith("postgresql://"):
            return value.replace("postgresql://", "postgresql+psycopg://", 1)
        return value


class PeopleSettings(_Section):
    """Who is at the stove if nobody says so."""

    default: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=100)
    timezone: str

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError("there is no such time zone") from None
        return value


class WriteSettings(_Section):
    """How much may be changed at once, and from when on the human is asked."""

    rows_per_request: int = Field(ge=1, le=100)
    rows_per_turn: int = Field(ge=1, le=1000)
    confirm_delete_over: int = Field(ge=0, le=100)
    confirm_update_over: int = Field(ge=0, le=100)


class EntitySettings(_Section):
    """How long things stay in a conversation without being mentioned."""

    ttl_turns: int = Field(ge=1, le=100)
    gc_turns: int = Field(ge=1, le=100)


class AlfredSettings(_Section):
    """All of them."""

    database: DatabaseSettings
    people: PeopleSettings
    writes: WriteSettings
    entities: EntitySettings


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """The settings in force, and what was wrong in the project's own file."""

    values: AlfredSettings
    warnings: tuple[str, ...] = ()


def read_settings(root: Path) -> SettingsRead:
    """Return the settings of a project."""
    return _merged(read_settings_file(root / PROJECT_FILE))


def _bundled() -> dict[str, dict[str, Json]]:
    text = files(_PACKAGE).joinpath("settings.yaml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, Json]]", yaml.safe_load(text))


@cache
def _merged(content: FileContent) -> SettingsRead:
    values = _bundled()
    try:
        own = parse_settings_file(content)
    except FileProblem as problem:
        kept = AlfredSettings.model_validate(values)
        return SettingsRead(kept, (f"{PROJECT_FILE} {problem.message}",))
    warnings: list[str] = []
    for name, section in own.items():
        if name not in values or not isinstance(section, dict):
            warnings.append(f"{PROJECT_FILE}: {name} is no section; there are {', '.join(values)}")
            continue
        for key, value in cast("dict[str, Any]", section).items():
            warnings += _take(values, name, key, value)
    return SettingsRead(AlfredSettings.model_validate(values), tuple(warnings))


def _take(values: dict[str, dict[str, Json]], name: str, key: str, value: Any) -> list[str]:
    """Put one value in, unless it does not fit; then say so."""
    known = values[name]
    before = dict(known)
    known[key] = value
    try:
        AlfredSettings.model_validate(values)
    except ValidationError as error:
        values[name] = before
        told = error.errors(include_url=False)[0]["msg"]
        shown = "the value" if name == "database" else repr(value)
        return [f"{PROJECT_FILE}: {name}.{key} = {shown} is left out: {told}"]
    return []

"""The settings of Alfred: where the kitchen is, who cooks, and how much may be changed at once."""

from pathlib import Path
from typing import Final

from pydantic import Field, field_validator

from callboard.library.relational.rules import WriteLimits
from callboard.studio.settings_files import PackSection, PackSettings, PackSettingsRead

PROJECT_FILE: Final = ".callboard/alfred.yaml"
_ADDRESSES: Final = ("sqlite:///", "postgresql+psycopg://", "postgresql://")


class DatabaseSettings(PackSection):
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


class PeopleSettings(PackSection):
    """Who is at the stove if nobody says so."""

    default: str = Field(min_length=1, max_length=100)
    name: str = Field(min_length=1, max_length=100)
    timezone: str

    @field_validator("timezone")
    @classmethod
    def _is_zone(cls, value: str) -> str:
        if not is_timezone(value):
            raise ValueError("there is no such time zone")
        return value


class EntitySettings(PackSection):
    """How long things stay in a conversation without being mentioned."""

    ttl_turns: int = Field(ge=1, le=100)
    gc_turns: int = Field(ge=1, le=100)


class AlfredSettings(PackSection):
    """All of them."""

    database: DatabaseSettings
    people: PeopleSettings
    writes: WriteLimits
    entities: EntitySettings


SettingsRead = PackSettingsRead[AlfredSettings]
# An address may hold a password.
_SOURCE: Final = PackSettings(
    AlfredSettings, "callboard.packs.alfred", PROJECT_FILE, secret=("database",)
)


def is_timezone(name: str) -> bool:
    """Say whether there is such a time zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, RecursionError):
        return False
    return True


def read_settings(kept: Path) -> SettingsRead:
    """Return the settings of a project, from where Callboard keeps its own."""
    return _SOURCE.read(kept)

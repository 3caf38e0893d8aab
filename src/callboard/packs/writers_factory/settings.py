"""The settings of Writers Factory: the file beside this module, and a project's own over it.

A value of the project that has no such key or does not fit is reported and left out; what comes
with Callboard stays in force.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.core.canonical import Json
from callboard.studio.settings_file import (
    FileContent,
    FileProblem,
    parse_settings_file,
    read_settings_file,
)

PROJECT_FILE: Final = ".callboard/writers_factory.yaml"
_PACKAGE: Final = "callboard.packs.writers_factory"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ForemanSettings(_Section):
    """How the Foreman talks and acts."""

    strict_style: bool
    max_action_rounds: int = Field(ge=0, le=10)
    include_thinking_reminder: bool
    # `auto`: code leads the turn where the embedded model answers.
    guided: Literal["auto", "always", "never"]


class ModelSettings(_Section):
    """Which model does what; an intent without a route takes the default."""

    routes: dict[str, str]
    fallback: list[str]


class ProjectSettings(_Section):
    """How big the book is to be."""

    planned_total_words: int = Field(ge=100)
    default_scene_words: int = Field(ge=50)
    concurrency: int = Field(ge=1, le=64)


class ConsolidationSettings(_Section):
    """When soft facts are brought into the graph; an interval of 0 means only when asked."""

    interval_minutes: float = Field(ge=0)
    temperature: float = Field(ge=0, le=2)


class HealthSettings(_Section):
    """The thresholds of the seven checks."""

    plateau_chapters: int = Field(ge=2)
    plateau_range: float = Field(ge=0)
    plateau_error_chapters: int = Field(ge=2)
    falling_chapters: int = Field(ge=2)
    beat_warning_points: float = Field(ge=0)
    beat_error_points: float = Field(ge=0)
    beat_due_points: float = Field(ge=0)
    setup_scenes: int = Field(ge=1)
    scene_pairs: int = Field(ge=0)
    flaw_gap_warning: int = Field(ge=1)
    flaw_gap_error: int = Field(ge=1)
    flaw_first_by: int = Field(ge=1)
    flaw_types_by_pct: float = Field(ge=0, le=100)
    cast_appearances: int = Field(ge=1)
    cast_absence: int = Field(ge=1)
    cast_shared_neighbours: float = Field(ge=0, le=1)
    symbol_occurrences: int = Field(ge=1)
    symbol_acts: int = Field(ge=1)
    symbol_stages: int = Field(ge=1)
    symbol_chapter_share: float = Field(ge=0, le=1)
    theme_warning_below: float = Field(ge=0, le=10)
    theme_error_below: float = Field(ge=0, le=10)
    theme_beats: list[int]
    all_is_lost_beat: int = Field(ge=1)
    growth_by_beat: int = Field(ge=1)
    cast_draft_pct: float = Field(ge=0, le=100)
    cast_top: int = Field(ge=1)
    symbol_return_pct: float = Field(ge=0, le=100)
    score_error: float = Field(ge=0)
    score_warning: float = Field(ge=0)
    score_info: float = Field(ge=0)
    alerts: int = Field(ge=0)
    after_each_chapter: bool


class AnalysisSettings(_Section):
    """What a scene's score means, and how far a draft may stray."""

    accept_from: float = Field(ge=0, le=100)
    six_pass_from: float = Field(ge=0, le=100)
    stop_early_at: float = Field(ge=0, le=100)
    length_tolerance: float = Field(ge=0)
    length_retry: float = Field(ge=0)
    shared_phrases: float = Field(ge=0, le=1)
    pass_total_drop: float = Field(ge=0)
    pass_length_tolerance: float = Field(ge=0)


class VoiceSettings(_Section):
    """How long the passages of a tournament are to be, and where the bundle lies."""

    passage_words: int = Field(ge=20)
    passage_words_least: int = Field(ge=10)
    passage_words_most: int = Field(ge=20)
    small_passage_words: int = Field(ge=20)
    small_passage_words_least: int = Field(ge=10)
    small_passage_words_most: int = Field(ge=20)
    bundle_path: str


class FactorySettings(_Section):
    """All of them."""

    foreman: ForemanSettings
    models: ModelSettings
    project: ProjectSettings
    consolidation: ConsolidationSettings
    health: HealthSettings
    analysis: AnalysisSettings
    voice: VoiceSettings


@dataclass(frozen=True, slots=True)
class SettingsRead:
    """The settings in force, and what was wrong in the project's own file."""

    values: FactorySettings
    warnings: tuple[str, ...] = ()


def read_settings(root: Path) -> SettingsRead:
    """Return the settings of a project."""
    return _merged(read_settings_file(root / PROJECT_FILE))


@cache
def bundled_settings() -> FactorySettings:
    """Return the settings of a project that changes none."""
    return FactorySettings.model_validate(_bundled())


def _bundled() -> dict[str, dict[str, Json]]:
    text = files(_PACKAGE).joinpath("settings.yaml").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, Json]]", yaml.safe_load(text))


@cache
def _merged(content: FileContent) -> SettingsRead:
    try:
        own = parse_settings_file(content)
    except FileProblem as problem:
        return SettingsRead(bundled_settings(), (f"{PROJECT_FILE} {problem.message}",))
    values = _bundled()
    warnings: list[str] = []
    for name, section in own.items():
        known = values.get(name)
        if known is None or not isinstance(section, dict):
            warnings.append(f"{PROJECT_FILE}: {name} is no section; there are {', '.join(values)}")
            continue
        for key, value in cast("dict[str, Any]", section).items():
            warnings += _take(values, name, key, value)
    return SettingsRead(FactorySettings.model_validate(values), tuple(warnings))


def _take(values: dict[str, dict[str, Json]], name: str, key: str, value: Any) -> list[str]:
    """Put one value in, unless it does not fit; then say so."""
    old = values[name].get(key)
    values[name][key] = value
    try:
        FactorySettings.model_validate(values)
    except ValidationError as error:
        if key in _bundled()[name]:
            values[name][key] = old
        else:
            del values[name][key]
        told = error.errors(include_url=False)[0]["msg"]
        return [f"{PROJECT_FILE}: {name}.{key} = {value!r} is left out: {told}"]
    return []

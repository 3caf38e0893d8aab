"""The settings of Writers Factory: every number it judges by."""

from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from callboard.studio.settings_files import PackSection, PackSettings, PackSettingsRead

PROJECT_FILE: Final = ".callboard/writers_factory.yaml"


class ForemanSettings(PackSection):
    """How the Foreman talks and acts."""

    strict_style: bool
    max_action_rounds: int = Field(ge=0, le=10)
    include_thinking_reminder: bool
    # `auto`: code leads the turn where the embedded model answers.
    guided: Literal["auto", "always", "never"]


class ModelSettings(PackSection):
    """Which model does what; an intent without a route takes the default."""

    routes: dict[str, str]
    fallback: list[str]


class ProjectSettings(PackSection):
    """How big the book is to be."""

    planned_total_words: int = Field(ge=100)
    default_scene_words: int = Field(ge=50)
    concurrency: int = Field(ge=1, le=64)


class ConsolidationSettings(PackSection):
    """When soft facts are brought into the graph; an interval of 0 means only when asked."""

    interval_minutes: float = Field(ge=0)
    temperature: float = Field(ge=0, le=2)


class HealthSettings(PackSection):
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


class AnalysisSettings(PackSection):
    """What a scene's score means, and how far a draft may stray."""

    accept_from: float = Field(ge=0, le=100)
    six_pass_from: float = Field(ge=0, le=100)
    stop_early_at: float = Field(ge=0, le=100)
    length_tolerance: float = Field(ge=0)
    length_retry: float = Field(ge=0)
    shared_phrases: float = Field(ge=0, le=1)
    pass_total_drop: float = Field(ge=0)
    pass_length_tolerance: float = Field(ge=0)


class VoiceSettings(PackSection):
    """How long the passages of a tournament are to be, and where the bundle lies."""

    passage_words: int = Field(ge=20)
    passage_words_least: int = Field(ge=10)
    passage_words_most: int = Field(ge=20)
    small_passage_words: int = Field(ge=20)
    small_passage_words_least: int = Field(ge=10)
    small_passage_words_most: int = Field(ge=20)
    bundle_path: str


class FactorySettings(PackSection):
    """All of them."""

    foreman: ForemanSettings
    models: ModelSettings
    project: ProjectSettings
    consolidation: ConsolidationSettings
    health: HealthSettings
    analysis: AnalysisSettings
    voice: VoiceSettings


SettingsRead = PackSettingsRead[FactorySettings]
_SOURCE: Final = PackSettings(FactorySettings, "callboard.packs.writers_factory", PROJECT_FILE)


def read_settings(kept: Path) -> SettingsRead:
    """Return the settings of a project, from where Callboard keeps its own."""
    return _SOURCE.read(kept)


def bundled_settings() -> FactorySettings:
    """Return the settings of a project that changes none."""
    return _SOURCE.bundled()

"""The session state: what the Foreman knows, as values, as markup and in sentences."""

from callboard.packs.writers_factory.foreman.state.markup import (
    BARE,
    FEWER_ENTRIES,
    NO_ALERTS,
    SHORT_SCAFFOLD,
    VOICE_SUMMARY,
    StateMarkup,
)
from callboard.packs.writers_factory.foreman.state.prose import describe, read_templates
from callboard.packs.writers_factory.foreman.state.session import (
    BundleLine,
    ForemanState,
    MemoryLine,
    NotebookLine,
    OutlineLine,
    OverrideLine,
    PatternLine,
    ProjectLine,
    SceneLine,
    TemplateLine,
    VoiceLine,
)

__all__ = [
    "BARE",
    "FEWER_ENTRIES",
    "NO_ALERTS",
    "SHORT_SCAFFOLD",
    "VOICE_SUMMARY",
    "BundleLine",
    "ForemanState",
    "MemoryLine",
    "NotebookLine",
    "OutlineLine",
    "OverrideLine",
    "PatternLine",
    "ProjectLine",
    "SceneLine",
    "StateMarkup",
    "TemplateLine",
    "VoiceLine",
    "describe",
    "read_templates",
]

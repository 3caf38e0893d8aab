"""Thresholds: every number a story tool judges by, in one file a project can override."""

from callboard.library.story.thresholds.canon import CanonThresholds, FactThresholds
from callboard.library.story.thresholds.consistency import ConsistencyThresholds
from callboard.library.story.thresholds.draft import DraftThresholds
from callboard.library.story.thresholds.files import FileThresholds, SummaryThresholds
from callboard.library.story.thresholds.locator import LocatorThresholds
from callboard.library.story.thresholds.names import NameThresholds
from callboard.library.story.thresholds.outline import OutlineThresholds
from callboard.library.story.thresholds.prose import ProseThresholds
from callboard.library.story.thresholds.reader import ReaderThresholds
from callboard.library.story.thresholds.source import (
    Section,
    Thresholds,
    bundled_thresholds,
    thresholds,
)
from callboard.library.story.thresholds.stakes import StakesThresholds

__all__ = [
    "CanonThresholds",
    "ConsistencyThresholds",
    "DraftThresholds",
    "FactThresholds",
    "FileThresholds",
    "LocatorThresholds",
    "NameThresholds",
    "OutlineThresholds",
    "ProseThresholds",
    "ReaderThresholds",
    "Section",
    "StakesThresholds",
    "SummaryThresholds",
    "Thresholds",
    "bundled_thresholds",
    "thresholds",
]

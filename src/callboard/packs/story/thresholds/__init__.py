"""Thresholds: every number a story tool judges by, in one file a project can override."""

from callboard.packs.story.thresholds.canon import CanonThresholds, FactThresholds
from callboard.packs.story.thresholds.consistency import ConsistencyThresholds
from callboard.packs.story.thresholds.draft import DraftThresholds
from callboard.packs.story.thresholds.files import FileThresholds, SummaryThresholds
from callboard.packs.story.thresholds.locator import LocatorThresholds
from callboard.packs.story.thresholds.names import NameThresholds
from callboard.packs.story.thresholds.outline import OutlineThresholds
from callboard.packs.story.thresholds.prose import ProseThresholds
from callboard.packs.story.thresholds.reader import ReaderThresholds
from callboard.packs.story.thresholds.source import (
    Section,
    Thresholds,
    bundled_thresholds,
    thresholds,
)
from callboard.packs.story.thresholds.stakes import StakesThresholds

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

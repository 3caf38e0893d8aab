"""Thresholds of scene_draft_validator."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class DraftThresholds(Section):
    """What a draft is measured by."""

    section: ClassVar[str] = "draft"
    target_tolerance: float
    min_words: int
    max_words: int
    beat_covered: float
    beat_partial: float
    missing_beats_share: float
    pov_within_words: int
    person_minority_share: float

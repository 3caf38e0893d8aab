"""Thresholds of what counts as a name in scenes."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class NameThresholds(Section):
    """When a capitalised word without a card is a name."""

    section: ClassVar[str] = "names"
    min_occurrences: int
    min_inside_sentence: int
    max_lower_case_share: float

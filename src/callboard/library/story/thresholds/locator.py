"""Thresholds of file_locator: what a hit is worth."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class LocatorThresholds(Section):
    """Points per kind of hit, and when a token is close enough to a name."""

    section: ClassVar[str] = "file_locator"
    exact_path_points: float
    scene_number_points: float
    filename_points: float
    metadata_points: float
    heading_points: float
    content_points: float
    fuzzy_similarity: float
    fuzzy_min_letters: int
    deep_scan_warning_tokens: int
    max_criteria_tokens: int

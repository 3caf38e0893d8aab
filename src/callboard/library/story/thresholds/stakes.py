"""Thresholds of stakes_mapper."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class StakesThresholds(Section):
    """What a hit weighs, and when the curve of the stakes is worth a remark."""

    section: ClassVar[str] = "stakes"
    external_weight: float
    internal_weight: float
    pressure_weight: float
    raw_floor: float
    higher_ratio: float
    lower_ratio: float
    plateau_scenes: int
    late_share: float
    late_min_scenes: int
    low_score: float
    low_min_words: int
    low_habit_share: float
    quotes_per_scene: int
    unpaid_share: float
    unplanted_share: float

"""Thresholds of outline_analyzer."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class OutlineThresholds(Section):
    """When the shape of an outline is worth a remark, and when a target matches an entry."""

    section: ClassVar[str] = "outline"
    one_pov_share: float
    one_pov_min_scenes: int
    pov_run: int
    small_act_share: float
    large_act_share: float
    acts_min_scenes: int
    absence_scenes: int
    fuzzy_title: float
    shared_tokens: int

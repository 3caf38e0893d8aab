"""Thresholds of reader_experience_simulator."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class ReaderThresholds(Section):
    """When something a reader goes through is worth a remark."""

    section: ClassVar[str] = "reader"
    new_names: int
    new_names_opening: int
    absence_scenes: int
    absence_min_mentions: int
    reminder_sentences: int
    setup_mentions: int
    setup_mentions_prop: int
    setup_share: float
    payoff_mentions: int
    payoff_share: float
    payoff_min_scenes: int
    opening_words: int
    flat_scenes: int
    flat_min_words: int
    flat_tension: float
    flat_sentiment_change: float
    questions_listed: int
    question_nouns: int
    smooth_minor: int
    friction_major: int
    friction_minor: int

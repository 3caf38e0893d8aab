"""Thresholds of prose_analyzer."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class ProseThresholds(Section):
    """When a manner of writing is worth a remark."""

    section: ClassVar[str] = "prose"
    long_sentence_words: int
    long_sentences_listed: int
    long_sentence_habit_share: float
    breathless_words: int
    monotony_stdev: float
    monotony_min_sentences: int
    opener_run: int
    opener_run_pronoun: int
    pacing_segments: int
    pacing_min_sentences: int
    slow_ratio: float
    very_slow_ratio: float
    slow_dialogue_share: float
    fast_ratio: float
    adverbs_per_1000: float
    filter_words_per_1000: float
    rate_min_count: int
    rate_heavy_factor: float
    echo_min_letters: int
    echo_times: int
    echo_window_words: int
    echo_subject_extra: int
    echoes_listed: int
    tense_minority_share: float
    tense_min_sentences: int
    tense_block_sentences: int
    omniscient_minds: int
    omniscient_slips: int
    mind_share: float

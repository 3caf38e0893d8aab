"""Thresholds of consistency_checker."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class ConsistencyThresholds(Section):
    """When two forms of a term, two dates or a deed after a death are worth a remark."""

    section: ClassVar[str] = "consistency"
    max_files: int
    max_chars: int
    term_min_each: int
    term_name_min_letters: int
    term_rare_share: float
    opening_sentences: int
    age_leeway_years: int

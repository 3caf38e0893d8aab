"""Thresholds of canon_checker and of the claims it shares with consistency_checker."""

from typing import ClassVar

from callboard.library.story.thresholds.source import Section


class FactThresholds(Section):
    """How far two claims may lie apart before they contradict each other, and how much is read."""

    section: ClassVar[str] = "facts"
    age_leeway_years: int
    height_leeway_cm: int
    max_checked_chars: int


class CanonThresholds(Section):
    """When a word is a misspelt name, and when a name wants a card."""

    section: ClassVar[str] = "canon"
    name_min_letters: int
    long_name_letters: int
    edits: int
    long_name_edits: int
    rare_share: float
    lenient_occurrences: int

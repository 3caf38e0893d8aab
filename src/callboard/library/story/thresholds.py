"""Thresholds: every number a story tool judges by.

They come with the library in `settings.yaml`; a project overrides what it likes in
`.callboard/story.yaml`. What does not fit there is reported and left out: a tool never fails on
its settings.
"""

from typing import Annotated, Final

from pydantic import ConfigDict, Field

from callboard.studio.settings_files import PackSection, PackSettings, PackSettingsRead
from callboard.tools import ToolContext

_Count = Annotated[int, Field(ge=0)]
_Amount = Annotated[float, Field(ge=0)]


class _Section(PackSection):
    # A number is a number: neither true nor a word.
    model_config = ConfigDict(strict=True)


class FileThresholds(_Section):
    """Which files are read at all."""

    max_file_bytes: _Count


class SummaryThresholds(_Section):
    """How much of a result goes into a summary at most, before a tier cuts it further."""

    max_chars: _Count
    max_quote_chars: _Count


class NameThresholds(_Section):
    """When a capitalised word without a card is a name."""

    min_occurrences: _Count
    min_inside_sentence: _Count
    max_lower_case_share: _Amount


class LocatorThresholds(_Section):
    """Points per kind of hit, and when a token is close enough to a name."""

    exact_path_points: _Amount
    scene_number_points: _Amount
    filename_points: _Amount
    metadata_points: _Amount
    heading_points: _Amount
    content_points: _Amount
    fuzzy_similarity: _Amount
    fuzzy_min_letters: _Count
    deep_scan_warning_tokens: _Count
    max_criteria_tokens: _Count


class OutlineThresholds(_Section):
    """When the shape of an outline is worth a remark, and when a target matches an entry."""

    one_pov_share: _Amount
    one_pov_min_scenes: _Count
    pov_run: _Count
    small_act_share: _Amount
    large_act_share: _Amount
    acts_min_scenes: _Count
    absence_scenes: _Count
    fuzzy_title: _Amount
    shared_tokens: _Count


class ProseThresholds(_Section):
    """When a manner of writing is worth a remark."""

    long_sentence_words: _Count
    long_sentences_listed: _Count
    long_sentence_habit_share: _Amount
    breathless_words: _Count
    monotony_stdev: _Amount
    monotony_min_sentences: _Count
    opener_run: _Count
    opener_run_pronoun: _Count
    pacing_segments: _Count
    pacing_min_sentences: _Count
    slow_ratio: _Amount
    very_slow_ratio: _Amount
    slow_dialogue_share: _Amount
    fast_ratio: _Amount
    adverbs_per_1000: _Amount
    filter_words_per_1000: _Amount
    rate_min_count: _Count
    rate_heavy_factor: _Amount
    echo_min_letters: _Count
    echo_times: _Count
    echo_window_words: _Count
    echo_subject_extra: _Count
    echoes_listed: _Count
    tense_minority_share: _Amount
    tense_min_sentences: _Count
    tense_block_sentences: _Count
    omniscient_minds: _Count
    omniscient_slips: _Count
    mind_share: _Amount


class StakesThresholds(_Section):
    """What a hit weighs, and when the curve of the stakes is worth a remark."""

    external_weight: _Amount
    internal_weight: _Amount
    pressure_weight: _Amount
    raw_floor: _Amount
    higher_ratio: _Amount
    lower_ratio: _Amount
    plateau_scenes: _Count
    late_share: _Amount
    late_min_scenes: _Count
    low_score: _Amount
    low_min_words: _Count
    low_habit_share: _Amount
    quotes_per_scene: _Count
    unpaid_share: _Amount
    unplanted_share: _Amount


class ReaderThresholds(_Section):
    """When something a reader goes through is worth a remark."""

    new_names: _Count
    new_names_opening: _Count
    absence_scenes: _Count
    absence_min_mentions: _Count
    reminder_sentences: _Count
    setup_mentions: _Count
    setup_mentions_prop: _Count
    setup_share: _Amount
    payoff_mentions: _Count
    payoff_share: _Amount
    payoff_min_scenes: _Count
    opening_words: _Count
    flat_scenes: _Count
    flat_min_words: _Count
    flat_tension: _Amount
    flat_sentiment_change: _Amount
    questions_listed: _Count
    question_nouns: _Count
    smooth_minor: _Count
    friction_major: _Count
    friction_minor: _Count


class FactThresholds(_Section):
    """How far two claims may lie apart before they contradict each other, and how much is read."""

    age_leeway_years: _Count
    height_leeway_cm: _Count
    max_checked_chars: _Count


class CanonThresholds(_Section):
    """When a word is a misspelt name, and when a name wants a card."""

    name_min_letters: _Count
    long_name_letters: _Count
    edits: _Count
    long_name_edits: _Count
    rare_share: _Amount
    lenient_occurrences: _Count


class ConsistencyThresholds(_Section):
    """When two forms of a term, two dates or a deed after a death are worth a remark."""

    max_files: _Count
    max_chars: _Count
    term_min_each: _Count
    term_name_min_letters: _Count
    term_rare_share: _Amount
    opening_sentences: _Count
    age_leeway_years: _Count
    max_pairs: _Count


class DraftThresholds(_Section):
    """What a draft is measured by."""

    target_tolerance: _Amount
    min_words: _Count
    max_words: _Count
    beat_covered: _Amount
    beat_partial: _Amount
    missing_beats_share: _Amount
    pov_within_words: _Count
    person_minority_share: _Amount


class Thresholds(PackSection):
    """All thresholds in force for one project."""

    files: FileThresholds
    summary: SummaryThresholds
    names: NameThresholds
    file_locator: LocatorThresholds
    outline: OutlineThresholds
    prose: ProseThresholds
    stakes: StakesThresholds
    reader: ReaderThresholds
    facts: FactThresholds
    canon: CanonThresholds
    consistency: ConsistencyThresholds
    draft: DraftThresholds


_SETTINGS: Final = PackSettings(Thresholds, "callboard.library.story", ".callboard/story.yaml")


def bundled_thresholds() -> Thresholds:
    """Return the thresholds of a project that changes none."""
    return _SETTINGS.bundled()


def read_thresholds(context: ToolContext) -> PackSettingsRead[Thresholds]:
    """Return the thresholds of the project a tool works in, and what its own file gets wrong."""
    kept = context.files.kept
    return PackSettingsRead(bundled_thresholds()) if kept is None else _SETTINGS.read(kept)


def thresholds(context: ToolContext) -> Thresholds:
    """Return the thresholds of the project a tool works in."""
    return read_thresholds(context).values

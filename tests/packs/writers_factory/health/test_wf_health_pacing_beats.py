"""A1 and A2: tension over chapters, and where the beats stand; every threshold at its edge."""

import pytest
from health_fixture import BEATS, HEALTH, a_scene, a_view, examine
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.bible.shapes import BeatPoint
from callboard.packs.writers_factory.health.checks.structure import (
    check_beats,
    check_pacing,
    find_plateaus,
    points_off,
    rate_unwritten,
    rate_written,
)
from callboard.packs.writers_factory.health.values import CheckStatus
from callboard.packs.writers_factory.health.view import ManuscriptView
from callboard.packs.writers_factory.model import Severity

MIDPOINT = BEATS[8]


def tense(*values: float | None, **facts: object) -> ManuscriptView:
    return a_view(*(a_scene(n, tension=v) for n, v in enumerate(values, start=1)), **facts)


@pytest.mark.req("WF-G60a")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((5.0, 5.5, 6.0), [Severity.WARNING]),
        ((5.0, 5.5, 6.1), []),
        ((5.0, 5.4, 5.2, 5.1), [Severity.WARNING]),
        ((5.0, 5.4, 5.2, 5.1, 5.0), [Severity.ERROR]),
        ((2.0, 5.0, 5.4, 5.2, 9.0), [Severity.WARNING]),
        ((5.0, 5.0, 5.0, 9.0, 5.0, 5.0, 5.0), [Severity.WARNING, Severity.WARNING]),
        ((5.0, 5.0, None, 5.0, 5.0, 9.0), []),
    ],
)
def test_a_plateau_is_three_chapters_within_one_point(
    values: tuple[float | None, ...], expected: list[Severity]
) -> None:
    result = check_pacing(examine(tense(*values)))
    assert [each.severity for each in result.findings] == expected


@pytest.mark.req("WF-G60a")
def test_a_chapter_counts_with_the_mean_of_its_scenes() -> None:
    view = a_view(
        a_scene(1, 1, tension=1.0),
        a_scene(1, 2, tension=9.0),
        a_scene(2, tension=5.0),
        a_scene(3, tension=5.0),
    )
    result = check_pacing(examine(view))
    assert result.details["chapters"] == {"1": 5.0, "2": 5.0, "3": 5.0}
    assert result.status is CheckStatus.WARN


@pytest.mark.req("WF-G60a")
def test_two_chapters_are_no_data_and_never_a_pass() -> None:
    result = check_pacing(examine(tense(2.0, 9.0, None)))
    assert (result.status, result.score) == (CheckStatus.INSUFFICIENT_DATA, None)


@pytest.mark.req("WF-G60a")
@pytest.mark.parametrize(("last", "expected"), [(3.0, ["falling"]), (5.0, [])])
def test_a_fall_before_all_is_lost_is_a_remark(last: float, expected: list[str]) -> None:
    values = (9.0, 7.0, 5.0, last)
    scenes = [a_scene(n, tension=v) for n, v in enumerate(values, start=1)]
    view = a_view(*scenes, a_scene(5, tension=10.0, beat_number=11))
    result = check_pacing(examine(view))
    assert [each.rule for each in result.findings] == expected
    assert all(each.severity is Severity.INFO for each in result.findings)


@given(st.lists(st.integers(10, 100), min_size=3, max_size=12), st.integers(2, 4))
@pytest.mark.req("WF-G60a")
def test_plateaus_hold_every_flat_window_and_nothing_else(values: list[int], window: int) -> None:
    tensions = {n: v / 10 for n, v in enumerate(values, start=1)}
    chapters = tuple(tensions)
    runs = list(find_plateaus(chapters, tensions, window, 1.0))
    flat = [
        start
        for start in range(len(values) - window + 1)
        if max(values[start : start + window]) - min(values[start : start + window]) <= 10
    ]
    covered = [start for run in runs for start in range(run[0] - 1, run[-1] - window + 1)]
    assert covered == flat


@pytest.mark.req("WF-G60b")
@pytest.mark.parametrize(
    ("off", "expected"),
    [(4.99, None), (5.0, Severity.WARNING), (9.99, Severity.WARNING), (10.0, Severity.ERROR)],
)
def test_a_written_beat_may_be_off_by_less_than_five_points(
    off: float, expected: Severity | None
) -> None:
    assert rate_written(off, HEALTH) is expected


@pytest.mark.req("WF-G60b", "WF-87")
@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (44.9, None),
        (45.0, Severity.INFO),
        (50.0, Severity.INFO),
        (50.1, Severity.WARNING),
        (59.9, Severity.WARNING),
        (60.0, Severity.ERROR),
    ],
)
def test_an_unwritten_beat_is_due_then_overdue(progress: float, expected: Severity | None) -> None:
    assert rate_unwritten(MIDPOINT, progress, HEALTH) is expected


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))
@pytest.mark.req("WF-G60b")
def test_a_beat_within_its_range_is_not_off(low: float, high: float, start: float) -> None:
    beat = BeatPoint(1, "Any", min(low, high), max(low, high), "1")
    off = points_off(beat, start)
    assert off >= 0
    assert (off == 0) == (beat.low_pct - 1e-6 <= start <= beat.high_pct + 1e-6) or off < 1e-5


@pytest.mark.req("WF-G60b")
def test_a_beat_stands_where_its_first_scene_begins() -> None:
    view = a_view(
        a_scene(1, word_count=40_000, beat_number=8),
        a_scene(2, word_count=1_000, beat_number=9),
        a_scene(3, word_count=30_000, beat_number=9),
    )
    result = check_beats(examine(view))
    assert result.details["starts_pct"] == {"8": 0.0, "9": 40.0}
    late = [each for each in result.findings if each.rule == "misplaced"]
    assert [(each.entities, each.severity) for each in late] == [
        (("beat 8",), Severity.ERROR),
        (("beat 9",), Severity.ERROR),
    ]


@pytest.mark.req("WF-G60b")
def test_beats_out_of_order_and_scenes_without_a_beat_are_warnings() -> None:
    view = a_view(a_scene(1, beat_number=4), a_scene(2, beat_number=2), a_scene(3))
    rules = {(e.rule, e.entities): e.severity for e in check_beats(examine(view)).findings}
    assert rules[("order", ("beat 2",))] is Severity.WARNING
    assert rules[("no_beat", ("ch3-sc1",))] is Severity.WARNING


@pytest.mark.req("WF-G60b")
def test_a_beat_that_lies_within_a_longer_one_is_not_out_of_order() -> None:
    view = a_view(a_scene(1, beat_number=8), a_scene(2, beat_number=7))
    assert "order" not in {each.rule for each in check_beats(examine(view)).findings}


@pytest.mark.req("WF-G60b")
def test_without_scenes_there_is_nothing_to_say_about_beats() -> None:
    assert check_beats(examine(a_view())).status is CheckStatus.INSUFFICIENT_DATA

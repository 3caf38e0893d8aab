"""What each tier means for retries and for the user, and when a burst of blips is told."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import (
    ErrorTier,
    TransientTracker,
    tier_views,
)
from callboard.core.settings.errors import (
    RATE_LIMITED,
    RetryPolicy,
    retry_policies,
)


def waits(tier: ErrorTier) -> list[float]:
    policy = retry_policies[tier]
    return [policy.delay_seconds(attempt) for attempt in range(1, policy.max_attempts)]


@pytest.mark.req("ERR-17")
@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        (ErrorTier.TRANSIENT, [0.1, 0.2, 0.4, 0.8]),
        (ErrorTier.EXTERNAL_RATE_LIMIT, [1, 2, 4, 8, 16, 32, 60, 60, 60]),
        (ErrorTier.EXTERNAL_DEGRADING, [5, 10]),
    ],
)
def test_waits_grow_geometrically_up_to_a_cap(tier: ErrorTier, expected: list[float]) -> None:
    assert waits(tier) == pytest.approx(expected)


@pytest.mark.parametrize("tier", [ErrorTier.PERMANENT, ErrorTier.USER_FIXABLE])
def test_what_only_a_person_can_mend_is_never_retried(tier: ErrorTier) -> None:
    assert waits(tier) == []


@given(
    attempt=st.integers(1, 10_000),
    initial=st.floats(0.001, 100),
    cap=st.floats(0.001, 1_000),
    multiplier=st.floats(1, 100),
)
def test_no_wait_is_ever_above_the_cap(
    attempt: int, initial: float, cap: float, multiplier: float
) -> None:
    policy = RetryPolicy(
        max_attempts=5,
        initial_delay_seconds=initial,
        max_delay_seconds=cap,
        multiplier=multiplier,
    )
    assert 0 < policy.delay_seconds(attempt) <= cap


@pytest.mark.req("ERR-18")
def test_retry_after_wins_over_the_computed_wait_of_a_rate_limit() -> None:
    policy = RATE_LIMITED
    assert policy.use_retry_after
    assert retry_policies[ErrorTier.EXTERNAL_RATE_LIMIT] == policy
    assert policy.delay_seconds(1, retry_after_seconds=90) == 90
    assert policy.delay_seconds(5, retry_after_seconds=0) == 0
    assert policy.delay_seconds(1, retry_after_seconds=-3) == 0
    assert policy.delay_seconds(1) == 1


@pytest.mark.req("ERR-18")
def test_retry_after_counts_for_nothing_where_it_is_switched_off() -> None:
    policy = RATE_LIMITED.model_copy(update={"use_retry_after": False})
    assert policy.delay_seconds(1, retry_after_seconds=90) == 1


def test_every_tier_has_a_policy_and_a_view() -> None:
    assert set(retry_policies) == set(tier_views) == set(ErrorTier)


@pytest.mark.req("ERR-20", "ERR-21")
def test_the_third_blip_inside_ten_seconds_is_told() -> None:
    tracker = TransientTracker()
    assert [tracker.record("model", now) for now in (0.0, 5.0, 9.9)] == [False, False, True]


@pytest.mark.req("ERR-20")
def test_a_blip_as_old_as_the_window_no_longer_counts() -> None:
    tracker = TransientTracker()
    assert [tracker.record("model", now) for now in (0.0, 5.0, 10.0)] == [False, False, False]
    assert tracker.record("model", 14.9)


@pytest.mark.req("ERR-22")
def test_after_telling_it_is_quiet_for_the_cooldown_but_keeps_counting() -> None:
    tracker = TransientTracker()
    told = [now for now in range(130) if tracker.record("model", float(now))]
    assert told == [2, 62, 122]


@pytest.mark.req("ERR-22")
def test_blips_during_the_cooldown_count_once_it_is_over() -> None:
    tracker = TransientTracker(
        frequency_count=3, frequency_window_seconds=10, notification_cooldown_seconds=5
    )
    assert [tracker.record("m", now) for now in (0.0, 0.0, 0.0)] == [False, False, True]
    assert [tracker.record("m", now) for now in (4.0, 4.9)] == [False, False]
    assert tracker.record("m", 5.0)


def test_resources_are_counted_apart() -> None:
    tracker = TransientTracker()
    assert not any(tracker.record(name, 0.0) for name in ("a", "b", "c", "a", "b", "c"))
    assert tracker.record("a", 0.0)


@pytest.mark.req("ERR-23")
def test_threads_lose_no_blip_and_tell_once() -> None:
    tracker = TransientTracker(frequency_count=4_000)
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda _: _record(tracker, 500), range(8)))
    assert sum(told) == 1


def _record(tracker: TransientTracker, times: int) -> int:
    return sum(tracker.record("model", 1.0) for _ in range(times))


@pytest.mark.req("ERR-20")
@given(st.lists(st.floats(0, 100), min_size=1, max_size=40).map(sorted))
def test_the_window_agrees_with_counting_by_hand(moments: list[float]) -> None:
    tracker = TransientTracker(notification_cooldown_seconds=0)
    for index, now in enumerate(moments):
        recent = [each for each in moments[: index + 1] if each > now - 10]
        assert tracker.record("model", now) == (len(recent) >= 3)

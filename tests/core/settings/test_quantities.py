"""Durations and sizes are read as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.settings.quantities import (
    format_bytes,
    format_seconds,
    parse_bytes,
    parse_seconds,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("90s", 90),
        ("1m", 60),
        ("1h", 3_600),
        ("168h", 604_800),
        ("7d", 604_800),
        ("1h30m", 5_400),
        (" 1.5 S ", 1.5),
        ("120", 120),
        (120, 120),
        (0.25, 0.25),
    ],
)
def test_a_duration_is_read(text: object, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "soon", "5 parsecs", "-1s", -1, True, None, [1], math.inf, math.nan, "1h 2", "m"]
)
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10MB", 10_000_000),
        ("1GB", 1_000_000_000),
        ("512KiB", 524_288),
        ("1.5 kb", 1_500),
        ("7", 7),
        (7, 7),
        ("3B", 3),
    ],
)
def test_a_size_is_read(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "big", "10 apples", "-1MB", -1, True, None, 1.5, "MB"])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="size"):
        parse_bytes(text)


@given(st.integers(0, 10**9).map(lambda milliseconds: milliseconds / 1000))
def test_a_shown_duration_reads_back(seconds: float) -> None:
    assert parse_seconds(format_seconds(seconds)) == pytest.approx(seconds, rel=1e-5)


@given(st.integers(0, 2**50))
def test_a_shown_size_reads_back(size: int) -> None:
    assert parse_bytes(format_bytes(size)) == size

"""Ids are prefixed, sort by creation, and never repeat."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import InvalidInput
from callboard.core.ids import IdMaker, type_prefixes


class HandClock:
    """A clock that shows what the test sets."""

    def __init__(self, *moments: int) -> None:
        self.moments = list(moments)

    def now_ms(self) -> int:
        return self.moments.pop(0) if len(self.moments) > 1 else self.moments[0]

    def monotonic(self) -> float:
        return 0.0


@pytest.mark.parametrize(("kind", "prefix"), type_prefixes.items())
def test_an_id_says_what_it_names(kind: str, prefix: str) -> None:
    made = IdMaker(HandClock(1)).make(kind)
    assert made.startswith(prefix)
    assert len(made) == len(prefix) + 26


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput) as caught:
        IdMaker(HandClock(1)).make("banana")
    assert "banana" in caught.value.message
    assert "session" in (caught.value.fix or "")


@given(st.lists(st.integers(min_value=0, max_value=2**47), min_size=2, max_size=60))
def test_ids_grow_whatever_the_clock_does(moments: list[int]) -> None:
    maker = IdMaker(HandClock(*moments))
    made = [maker.make("run") for _ in moments]
    assert made == sorted(set(made))


def test_ids_of_one_millisecond_overflow_into_the_next() -> None:
    maker = IdMaker(HandClock(5), random_bits=lambda bits: 2**bits - 1)
    first, second = maker.make("run"), maker.make("run")
    assert first < second


def test_ids_of_later_processes_sort_after_earlier_ones() -> None:
    earlier = IdMaker(HandClock(1_000), random_bits=lambda bits: 2**bits - 1).make("run")
    later = IdMaker(HandClock(1_001), random_bits=lambda _: 0).make("run")
    assert earlier < later


def test_threads_never_get_the_same_id() -> None:
    maker = IdMaker(HandClock(1))
    with ThreadPoolExecutor(8) as pool:
        made = [each for ids in pool.map(lambda _: _make(maker, 500), range(8)) for each in ids]
    assert len(set(made)) == 4_000


def _make(maker: IdMaker, count: int) -> list[str]:
    return [maker.make("receipt") for _ in range(count)]

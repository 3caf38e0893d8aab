"""`kill -9` at every named commit point, in the middle of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from crashlab import KILLED, PLAYS, Expected, Stagehand, Trial

from callboard.testing import COMMIT_POINTS
from sizes import size

pytestmark = [pytest.mark.timeout(300), pytest.mark.chaos]


def test_every_commit_point_is_passed_by_some_play(calm: Callable[[str], Expected]) -> None:
    passed = {point for play in PLAYS for point in calm(play).passages}
    assert passed == set(COMMIT_POINTS)


@pytest.mark.parametrize("point", COMMIT_POINTS)
@pytest.mark.parametrize("play", sorted(PLAYS))
def test_a_kill_at_a_commit_point_loses_and_repeats_nothing(
    play: str,
    point: str,
    stagehand: Stagehand,
    tmp_path: Path,
    calm: Callable[[str], Expected],
) -> None:
    expected = calm(play)
    count = expected.passages.get(point, 0)
    # The first and the last passage or, of every other play, some between; all with `make chaos`.
    outer, inner = {1, count}, {2, (count + 1) // 2}
    chosen = size((outer, inner)[sorted(PLAYS).index(play) % 2], outer | inner)
    for nth in sorted(chosen & set(range(1, count + 1))):
        trial = Trial(stagehand, tmp_path / str(nth), play)
        # How many writes share a commit differs, so the last one may come a little earlier.
        is_killed = trial.perform(kill=[point, nth]) == KILLED
        assert is_killed or nth > count - 3
        trial.check(trial.recover(), expected)


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
@pytest.mark.parametrize("play", ["ledger", "recipe"])
def test_a_kill_at_a_commit_point_on_a_server_loses_and_repeats_nothing(
    store: str, play: str, stagehand: Stagehand, tmp_path: Path, calm: Callable[[str], Expected]
) -> None:
    expected = calm(play)
    for point, count in expected.passages.items():
        nth = (count + 1) // 2
        trial = Trial(stagehand, tmp_path / point, play)
        is_killed = trial.perform(kill=[point, nth]) == KILLED
        assert is_killed or nth > count - 3
        trial.check(trial.recover(), expected)

"""`kill -9` at random moments, and again while recovering from the kill before."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from crashlab import KILLED, PLAYS, Expected, Stagehand, Trial

from sizes import size

pytestmark = [pytest.mark.timeout(300), pytest.mark.chaos]

TRIALS = size(30, 200)
PER_TEST = 10
# Of so many trials one is killed by the clock, the others after a number of passages, which can
# be repeated exactly.
CLOCK_SHARE = 4
MOST_KILLS = 4


@pytest.mark.parametrize("batch", range(TRIALS // PER_TEST))
def test_a_kill_at_a_random_moment_loses_and_repeats_nothing(
    batch: int, stagehand: Stagehand, tmp_path: Path, calm: Callable[[str], Expected]
) -> None:
    names = sorted(PLAYS)
    for number in range(batch * PER_TEST, (batch + 1) * PER_TEST):
        luck = random.Random(number)
        play = names[number % len(names)]
        expected = calm(play)
        trial = Trial(stagehand, tmp_path / str(number), play)
        if number % CLOCK_SHARE == 0:
            kill_by_the_clock(trial, luck, expected.seconds)
        else:
            kill_after_passages(trial, luck, sum(expected.passages.values()))
        assert trial.kills, "nobody was killed"
        trial.check(trial.recover(), expected)


def kill_after_passages(trial: Trial, luck: random.Random, most: int) -> None:
    """Kill once, and with some luck the ones that recover, too."""
    while trial.perform(kill=[None, luck.randint(1, most)]) != KILLED:
        trial.begin_again()
    while len(trial.kills) < MOST_KILLS and luck.random() < 0.5:
        most = max(1, most // 2)
        if trial.perform(kill=[None, luck.randint(1, most)]) != KILLED:
            return


def kill_by_the_clock(trial: Trial, luck: random.Random, seconds: float) -> None:
    """Kill once; who was done before that begins again, and has less time."""
    while trial.perform(kill_after_seconds=luck.uniform(0, seconds)) != KILLED:
        trial.begin_again()
        seconds /= 2

"""`kill -9` while a run is ahead of the disk: what anything outside has seen is what is kept."""

import random
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from crashlab import KILLED, PLAYS, Stagehand, Trial

from callboard.testing import COMMIT_POINTS
from sizes import size

pytestmark = [pytest.mark.timeout(300), pytest.mark.chaos]

PLAYS_HERE = {"dice": ("dice", {}, False)}
POINTS = [name for name in COMMIT_POINTS if name.startswith(("store", "step", "question", "run"))]
BATCHES = size(4, 20)
_TOLD = re.compile(r"([a-z/0-9]+):=([0-9.e-]+);")


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLAYS, "dice", PLAYS_HERE["dice"])


def check(trial: Trial) -> None:
    """Compare all that left any of the processes with the journal the last one left."""
    outcome = trial.recover()
    assert outcome["state"] == "done", outcome["error"]
    connection = sqlite3.connect(trial.database)
    try:
        kept = dict(connection.execute("SELECT key, output FROM steps WHERE state = 'done'"))
        asked = [text for (text,) in connection.execute("SELECT question FROM questions")]
        emitted = connection.execute("SELECT data FROM events WHERE type = 'emitted'")
        events = [text for (text,) in emitted]
    finally:
        connection.close()
    places = {
        "model": trial.witness.read_text("utf-8"),
        "file and child": (trial.root / "seen.txt").read_text("utf-8"),
        "once": "\n".join(trial.ledger()),
        "human": "\n".join(asked),
        "event": "\n".join(events),
        "answer": str(outcome["result"]),
    }
    for place, text in places.items():
        seen: list[Any] = _TOLD.findall(text)
        assert seen, f"nothing was told to {place}"
        wrong = {(key, value) for key, value in seen if str(float(kept[key])) != value}
        assert not wrong, f"{place} was told what is not kept"
    assert set(Counter(trial.ledger()).values()) == {1}, "an effect took place twice"


@pytest.mark.parametrize("point", POINTS)
def test_what_was_seen_before_a_kill_at_a_point_is_kept(
    point: str, stagehand: Stagehand, tmp_path: Path
) -> None:
    for nth in (1, 4, 9, 17):
        trial = Trial(stagehand, tmp_path / str(nth), "dice")
        trial.perform(kill=[point, nth])
        check(trial)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_was_seen_before_kills_at_random_is_kept(
    batch: int, stagehand: Stagehand, tmp_path: Path
) -> None:
    luck = random.Random(batch)
    for number in range(5):
        trial = Trial(stagehand, tmp_path / str(number), "dice")
        for _ in range(3):
            how = (
                {"kill_after_seconds": luck.uniform(0.05, 0.6)}
                if luck.random() < 0.4
                else {"kill": [None, luck.randint(1, 120)]}
            )
            if trial.perform(**how) != KILLED:
                break
        check(trial)

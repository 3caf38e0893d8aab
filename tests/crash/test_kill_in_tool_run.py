"""`tool run` killed at every point: no effect without a record that names the call and the file."""

import json
from pathlib import Path
from typing import Any

import pytest
from crashlab import KILLED, Stagehand, Trial, rows

from callboard.studio.database import open_database
from callboard.studio.project import Project
from callboard.tools import verify

pytestmark = pytest.mark.timeout(300)


def test_a_kill_at_any_point_leaves_no_effect_or_a_record_of_it(
    stagehand: Stagehand, tmp_path: Path
) -> None:
    trial = Trial(stagehand, tmp_path / "trial", "recipe")
    passages = trial.visit("write")["passages"]
    points = sum(passages.values())
    assert points > 6
    effects, unknown = 0, 0
    for nth in range(1, points + 1):
        trial.begin_again()
        assert trial.perform(visit="write", kill=[None, nth]) == KILLED
        note = trial.root / "note.md"
        took_effect = note.exists()
        begun, sealed = records(trial)
        if took_effect:
            effects += 1
            (named,) = begun + sealed
            assert (named["tool"], named["args"]["path"]) == ("write_file", "note.md")
        # Whoever opens the project next concludes it: one receipt per call, and no intent.
        trial.visit("answer")
        begun, sealed = records(trial)
        assert begun == []
        assert len(sealed) <= 1
        if took_effect:
            assert len(sealed) == 1
        unknown += [each["outcome"] for each in sealed].count("unknown")
    assert effects
    assert unknown


def records(trial: Trial) -> tuple[list[Any], list[Any]]:
    """Return the calls that have begun and the receipts, and see to it that all verifies."""
    project = Project(trial.root)
    database = open_database(project)
    try:
        assert verify(database, project.trail).flaws == ()
        assert database.verify().is_sound
        begun = [json.loads(row["body"]) for row in rows(database, "SELECT body FROM tool_intents")]
        sealed = [json.loads(row["body"]) for row in rows(database, "SELECT body FROM receipts")]
    finally:
        database.close()
    return begun, sealed

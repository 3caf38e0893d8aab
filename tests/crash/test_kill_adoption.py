"""A decision about a stranger's database, killed at any moment: no run of it goes on by itself."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from test_kill_init import KILLED, Killer, killer

import callboard.packs.examples as examples
from callboard.cli import exits
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunState
from callboard.store.journal.runs import list_runs
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import SCRIPTED
from sizes import size

__all__ = ["killer"]

pytestmark = [pytest.mark.chaos, pytest.mark.anyio]

SAMPLE = Path(examples.__file__).parent / "sample"
MOST_POINTS = 2_000
# Every so many points; the chaos suite takes every one.
STRIDES = {"adopt": size(41, 1), "aside": size(9, 1)}


async def make_shipped(root: Path, data: Path) -> str:
    """Make a project with a run that has not begun, as somebody with another data folder would."""
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("CALLBOARD_DATA_DIR", str(data))
        shutil.copytree(SAMPLE, root)
        Project.init(root)
        async with Studio.open(root, Opening(flags=SCRIPTED)) as studio:
            return (await studio.start("examples/recipe", dispatch=False)).id


async def states(root: Path) -> dict[str, RunState]:
    """Open a project the way a server does, and return the runs it knows."""
    async with Studio.open(root, Opening(flags=SCRIPTED, recover=True)) as studio:
        return {run.id: run.state for run in studio.database.read(list_runs)}


@pytest.mark.parametrize("choice", ["adopt", "aside"])
async def test_a_killed_decision_lets_no_run_go_on_and_can_be_made_again(
    killer: Killer, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(killer.base / "d"))
    shipped = killer.base / "shipped"
    run_id = await make_shipped(shipped, killer.base / "stranger")
    decide = ("trust", "--yes", "--database", choice)
    killed = 0
    for point in range(1, MOST_POINTS, STRIDES[choice]):
        root = killer.base / f"killed-{point}"
        shutil.copytree(shipped, root)
        code = killer.call(root, *decide, point=point, with_statements=True)
        if code != KILLED:
            assert code == exits.OK, killer.told()
        killed += code == KILLED
        try:
            found = await states(root)
        except CallboardError as refused:
            assert refused.code in ("foreign_database", "database_missing"), (point, refused)
        else:
            assert found.get(run_id, RunState.PAUSED) is RunState.PAUSED, point
        assert killer.call(root, *decide) == exits.OK, (point, killer.told())
        known = await states(root)
        if choice == "adopt":
            assert known == {run_id: RunState.PAUSED}, point
            assert killer.call(root, "receipts", "verify") == exits.OK, (point, killer.told())
        else:
            assert known == {}, point
            assert shipped_runs(root) == [run_id], point
        killer.call(root, "doctor")
        # A machine without the embedded model's weights is not what is looked at here.
        ills = [line for line in killer.told().splitlines() if line.startswith("✗")]
        assert [line for line in ills if "weights" not in line] == [], point
        shutil.rmtree(root)
        if code != KILLED:
            break
    else:
        raise AssertionError("it never ended by itself")
    assert killed > 2, "nothing was killed"


def shipped_runs(root: Path) -> list[str]:
    """Return the runs of the stranger's database, wherever it was moved to."""
    (moved,) = (root / ".callboard" / "backups").glob("aside-*/callboard.db")
    connection = sqlite3.connect(moved)
    try:
        return [row[0] for row in connection.execute("SELECT id FROM runs")]
    finally:
        connection.close()

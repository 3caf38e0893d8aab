"""What a killed process left half-written, or not mirrored, is put right by the next command."""

import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from bad_days import new_project, opening
from stagehand import PACK
from test_kill_init import KILLED, Killer, killer
from test_lost_log import answered

import callboard.packs.examples as examples
from callboard.store.connection import StoreError
from callboard.store.pending import prepared, sweep
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import Passages
from callboard.tools import verify
from sizes import size

__all__ = ["killer"]
pytestmark = pytest.mark.chaos
SAMPLE = Path(examples.__file__).parent / "sample"
STRIDE = size(5, 1)
LOOK = ("tool", "run", "read_file", "--arg", "path=Story/lighthouse.md")


@pytest.fixture
def root(killer: Killer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(killer.base / "d"))
    folder = killer.base / "story"
    shutil.copytree(SAMPLE, folder)
    Project.init(folder)
    (folder / "good.yaml").write_text("replies: [{text: The lighthouse stands., times: always}]\n")
    return folder


def litter(root: Path) -> list[str]:
    ours = (".tmp", ".unfinished")
    found = [path for path in root.rglob(".*") if path.name.endswith(ours)]
    found += list((root / ".callboard" / "local" / "pending").glob("*"))
    return [str(path.relative_to(root)) for path in found]


def test_a_killed_write_leaves_nothing_after_the_next_command(killer: Killer, root: Path) -> None:
    path = root / "Story/lighthouse.md"
    assert killer.call(root, *LOOK) == 0, killer.told()
    killed = littered = 0
    for point in range(1, 500, STRIDE):
        text = f"text {point}"
        before = path.read_text()
        words = ("--arg", "path=Story/lighthouse.md", "--arg", f"content={text}")
        if killer.call(root, "tool", "run", "write_file", *words, point=point) != KILLED:
            break
        killed += 1
        littered += bool(litter(root))
        assert path.read_text() in (before, text), point
        assert killer.call(root, *LOOK) == 0, (point, killer.told())
        assert litter(root) == [], point
    else:
        raise AssertionError("it never ended by itself")
    assert killed > 5, "nothing was killed"
    if STRIDE == 1:
        assert littered, "no kill left anything: this proves nothing"


def test_nothing_is_swept_while_somebody_writes(root: Path) -> None:
    kept, where = root / ".callboard", root / "Story"
    folder = os.open(where, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with prepared(kept, where, folder, b"half") as name:
            assert sweep(kept, root) == 0
            assert (where / name).read_bytes() == b"half"
        assert litter(root) == []
    finally:
        os.close(folder)


def test_only_what_was_noted_is_swept(root: Path) -> None:
    kept = root / ".callboard"
    pending = kept / "local" / "pending"
    pending.mkdir(exist_ok=True)
    noted = "0123456789abcdef"
    (pending / noted).write_text(str(root / "Story"))
    (pending / "notes.md").write_text("mine")
    (root / "Story" / f".callboard-{noted}.tmp").write_text("half")
    (root / "Story" / ".callboard-of-mine.tmp").write_text("mine")
    assert sweep(kept, root) == 1
    assert litter(root) == ["Story/.callboard-of-mine.tmp", ".callboard/local/pending/notes.md"]
    assert sweep(kept, root) == 0


def test_any_command_that_opens_the_project_mends_the_last_run_folder(
    killer: Killer, root: Path
) -> None:
    killer.call(root, "run", "recipe", "--model", "script:good.yaml")
    run = next((root / ".callboard" / "runs").iterdir())
    told = json.loads((run / "run.json").read_text())
    for make_stale in (
        lambda: (run / "run.json").write_text(json.dumps({**told, "state": "running"})),
        lambda: (run / "run.json").unlink(),
        lambda: shutil.rmtree(run),
    ):
        make_stale()
        assert killer.call(root, *LOOK) == 0, killer.told()
        assert json.loads((run / "run.json").read_text()) == told


def test_a_planted_note_sweeps_nothing_outside(root: Path, tmp_path: Path) -> None:
    kept, noted = root / ".callboard", "fedcba9876543210"
    (kept / "local" / "pending").mkdir(exist_ok=True)
    (kept / "local" / "pending" / noted).write_text(str(tmp_path))
    outside = tmp_path / f".callboard-{noted}.tmp"
    outside.write_text("somebody's")
    assert sweep(kept, root) == 0
    assert outside.read_text() == "somebody's"


class SlowMirror(Passages):
    """Holds the first copy of receipts until the run is over, and lets none after it be written."""

    def __init__(self) -> None:
        super().__init__()
        self.is_over = threading.Event()

    def reach(self, point: str) -> None:
        nth, _ = self.count(point)
        if (point, nth) == ("receipts.after_mirror", 1):
            self.is_over.wait()
        elif point == "receipts.before_mirror" and nth > 1:
            raise StoreError("the power was cut")


@pytest.mark.anyio
async def test_receipts_of_a_run_that_ended_while_they_were_copied_are_copied_later(
    tmp_path: Path,
) -> None:
    root, packs, faults = new_project(tmp_path / "project"), (load_pack(PACK),), SlowMirror()
    async with Studio.open(root, opening(packs=packs, faults=faults)) as studio:
        await answered(studio, (await studio.start("ledger", {})).id)
        faults.is_over.set()
    async with Studio.open(root, opening(packs=packs)) as studio:
        await studio.mirrors.flush()
        assert verify(studio.database, studio.project.trail).notes == ()

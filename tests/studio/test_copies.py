"""Readable copies: failing to write one takes nothing from what it copies, nor from others."""

from pathlib import Path

import pytest

from callboard.core.vocabulary import Plan
from callboard.studio.mirrors import Mirrors
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio


async def test_a_plan_whose_copy_cannot_be_written_is_stored_all_the_same(tmp_path: Path) -> None:
    Project.init(tmp_path)
    async with open_scripted(tmp_path) as studio:
        session = await studio.sessions.current()
        folder = studio.project.folder / "sessions"
        folder.mkdir(exist_ok=True)
        wanted = Plan(id="", session_id=session.id, intent="write", tasks=())
        first = await studio.plans.add(wanted)
        (copied,) = folder.rglob("plan.json")
        copied.unlink()
        copied.parent.rmdir()
        copied.parent.write_text("in the way")
        changed = await studio.plans.change(first.id, lambda plan: plan)
        assert studio.plans.get(changed.id).intent == "write"


async def test_a_folder_that_cannot_be_shaped_costs_no_other_run_its_own() -> None:
    written: list[str] = []

    def shape(run_id: str, _session_id: str) -> None:
        if run_id == "run_2":
            raise ZeroDivisionError("a pack's mistake")
        written.append(run_id)

    mirrors = Mirrors(shape)
    for run_id in ("run_1", "run_2", "run_3"):
        mirrors.touch(run_id, "sess_1")
    await mirrors.flush()

    assert written == ["run_1", "run_3"]

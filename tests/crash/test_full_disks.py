"""A disk that fills up: the run stops with the way out, and goes on once there is room."""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bad_days import SEA, mounted, new_project, opening

from callboard.core.vocabulary import RunState, SignalKind
from callboard.store.connection import DiskFull
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio
from callboard.testing import Line, Script
from callboard.tools import verify

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]


def asked(script: Script) -> Counter[str | None]:
    return Counter(call.request.step_key for call in script.calls)


class SmallDisk:
    """A file system of its own that can be filled to the brim and emptied again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 4096)

    def make_room(self) -> None:
        self._filler.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted("-t", "tmpfs", "-o", "size=4m", "tmpfs", folder):
        yield SmallDisk(folder)


def limit_pages(studio: Studio, pages: int | None) -> None:
    """Make SQLite say that the disk is full once the database has grown by some pages."""

    def work(connection: Any) -> int:
        now = connection.execute("PRAGMA page_count").fetchone()[0]
        most = 1_000_000 if pages is None else now + pages
        return connection.execute(f"PRAGMA max_page_count={most}").fetchone()[0]

    studio.database.submit(work).result()


async def full_then_free(
    studio: Studio, script: Script, fill: Callable[[], None], free: Callable[[], None]
) -> None:
    """Run out of space in the middle of a run, make room, and go on in the same process."""
    run = await studio.start("recipe", {})
    await script.reached("door")
    fill()
    script.release("door")
    with pytest.raises(DiskFull) as caught:
        await studio.engine.wait(run.id)
    assert caught.value.code == "disk_full"
    assert caught.value.fix
    # Whoever asks later is told the same, instead of waiting for ever.
    with pytest.raises(DiskFull):
        await studio.engine.wait(run.id)
    assert studio.engine.load(run.id).state is RunState.RUNNING
    free()
    await studio.engine.resume(run.id)
    finished = await studio.engine.wait(run.id)
    assert finished.state is RunState.DONE, finished.error
    counts = asked(script)
    # Only the call whose answer could not be stored was made again.
    assert sorted(counts.values())[-1] == 2
    assert sum(counts.values()) == len(counts) + 1
    await studio.mirrors.flush()
    assert verify(studio.database, studio.project.trail).flaws == ()


async def test_a_full_disk_stops_the_run_and_room_lets_it_go_on(small_disk: SmallDisk) -> None:
    root = new_project(small_disk.folder / "project")
    script = Script(Line(SEA * 400, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script)) as studio:
        await full_then_free(studio, script, small_disk.fill, small_disk.make_room)


async def test_a_database_that_cannot_grow_stops_the_run_and_room_lets_it_go_on(
    root: Path,
) -> None:
    script = Script(Line(SEA * 400, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script)) as studio:
        await full_then_free(
            studio, script, lambda: limit_pages(studio, 0), lambda: limit_pages(studio, None)
        )


async def test_a_run_stopped_by_a_full_disk_can_be_cancelled(root: Path) -> None:
    script = Script(Line(SEA * 400, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script)) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        limit_pages(studio, 0)
        script.release("door")
        with pytest.raises(DiskFull):
            await studio.engine.wait(run.id)
        limit_pages(studio, None)
        signal = await studio.engine.signal(run.id, SignalKind.CANCEL)
        assert signal.acknowledged_state is RunState.CANCELLED


async def test_a_run_stopped_by_a_full_disk_goes_on_after_a_restart(root: Path) -> None:
    script = Script(Line(SEA * 400, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script)) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        limit_pages(studio, 0)
        script.release("door")
        with pytest.raises(DiskFull):
            await studio.engine.wait(run.id)
    again = Script(Line(SEA, times=None))
    async with Studio.open(root, opening(again)) as studio:
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
    # Only the call whose answer was lost is made by both.
    assert len(asked(script).keys() & asked(again).keys()) == 1


async def test_a_project_is_not_opened_on_a_full_disk_and_opened_when_there_is_room(
    small_disk: SmallDisk,
) -> None:
    root = new_project(small_disk.folder / "project")
    small_disk.fill()
    with pytest.raises(DiskFull):
        async with Studio.open(root, opening()):
            pytest.fail("there is no room for a database")
    small_disk.make_room()
    async with Studio.open(root, opening()) as studio:
        run = await studio.start("recipe", {})
        assert (await studio.engine.wait(run.id)).state is RunState.DONE


async def test_a_mirror_without_room_stops_nothing_and_is_written_later(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = root / ".callboard" / "runs"
    with mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder):
        disk = SmallDisk(folder)
        disk.fill()
        await run_without_mirror(root, caplog)
        disk.make_room()
        await check_the_mirror_comes_back(root)


async def test_a_mirror_that_cannot_be_written_stops_nothing_and_is_written_later(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = root / ".callboard" / "runs"
    folder.rmdir()
    folder.write_text("a file where a folder should be", "utf-8")
    await run_without_mirror(root, caplog)
    folder.unlink()
    await check_the_mirror_comes_back(root)


async def run_without_mirror(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with Studio.open(root, opening()) as studio:
        run = await studio.start("recipe", {})
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
    assert any("mirror" in record.message for record in caplog.records)


async def check_the_mirror_comes_back(root: Path) -> None:
    async with Studio.open(root, opening()) as studio:
        (run,) = studio.database.read(list_runs)
        assert verify(studio.database, studio.project.trail).flaws == ()
    folder = root / ".callboard" / "runs" / run.id
    assert json.loads((folder / "run.json").read_bytes())["state"] == "done"
    assert (folder / "steps.jsonl").read_bytes().count(b"\n") >= 5

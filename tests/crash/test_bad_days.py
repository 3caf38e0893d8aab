"""Full disks, read-only folders, broken files, clocks that go back: said clearly, nothing lost."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crashlab import SAMPLE

from callboard.core.clock import SystemClock
from callboard.core.vocabulary import RunState, SignalKind
from callboard.store.connection import DiskFull, StoreCorrupt, StoreError, StoreReadOnly
from callboard.store.journal.events import read_events
from callboard.store.journal.runs import list_runs
from callboard.store.migrations import UnknownSchema
from callboard.studio.project import Project
from callboard.studio.studio import Opening, Studio
from callboard.testing import Blackout, Line, Moment, Script
from callboard.tools import verify

pytestmark = pytest.mark.anyio

SEA = "the lighthouse and the sea " * 10


def new_project(folder: Path) -> Path:
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    return Project.init(folder).root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project")


def opening(script: Script | None = None, **changes: Any) -> Opening:
    provider = script or Script(Line(SEA, times=None))
    flags = {"models": {"default": "script"}}
    return Opening(providers={"script": provider}, flags=flags, **changes)


def asked(script: Script) -> Counter[str | None]:
    return Counter(call.request.step_key for call in script.calls)


# --- A full disk ---------------------------------------------------------------------------------


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


def run_tool(name: str, *args: str) -> None:
    path = shutil.which(name)
    if path is None or subprocess.run([path, *args], capture_output=True).returncode:
        pytest.skip(f"{name} {args} is not possible here; what it would show is also simulated")


@contextlib.contextmanager
def mounted(*arguments: str | Path) -> Iterator[None]:
    folder = str(arguments[-1])
    run_tool("mount", *map(str, arguments))
    try:
        yield
    finally:
        run_tool("umount", "--lazy", folder)


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
    assert verify(studio.database, studio.project.root).flaws == ()


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
        assert verify(studio.database, root).flaws == ()
    folder = root / ".callboard" / "runs" / run.id
    assert json.loads((folder / "run.json").read_bytes())["state"] == "done"
    assert (folder / "steps.jsonl").read_bytes().count(b"\n") >= 5


# --- A read-only project -------------------------------------------------------------------------


@pytest.mark.parametrize("used_before", [True, False])
async def test_a_read_only_project_is_refused_with_the_way_out_and_left_alone(
    root: Path, used_before: bool
) -> None:
    if used_before:
        await finished_run(root)
    before = contents(root)
    with read_only(root), pytest.raises(StoreReadOnly) as caught:
        async with Studio.open(root, opening()):
            pytest.fail("nothing can be written here")
    assert caught.value.code == "read_only"
    assert str(root) in caught.value.message
    assert "permission" in str(caught.value.fix)
    assert contents(root) == before


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away the right to write: by permissions, or by a mount for root, who needs none."""
    if os.geteuid() == 0:
        with mounted("--bind", str(folder), folder):
            run_tool("mount", "-o", "remount,ro,bind", str(folder))
            yield
        return
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


# --- Broken files --------------------------------------------------------------------------------


async def finished_run(root: Path) -> str:
    async with Studio.open(root, opening()) as studio:
        run = await studio.start("recipe", {})
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
        return run.id


async def test_a_damaged_database_is_refused_with_the_way_out_and_left_alone(root: Path) -> None:
    await finished_run(root)
    path = Project(root).database
    spoiled = b"\xa5" * 4096 + path.read_bytes()[4096:]
    path.write_bytes(spoiled)
    with pytest.raises(StoreCorrupt) as caught:
        async with Studio.open(root, opening()):
            pytest.fail("the header is gone")
    assert caught.value.code == "database_corrupt"
    assert "doctor" in str(caught.value.fix)
    assert path.read_bytes() == spoiled


async def test_a_database_of_a_newer_callboard_is_refused_and_left_alone(root: Path) -> None:
    await finished_run(root)
    async with Studio.open(root, opening()) as studio:
        await studio.database.write(
            lambda c: (
                c.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'").rowcount
            )
        )
    before = contents(root)
    with pytest.raises(UnknownSchema) as caught:
        async with Studio.open(root, opening()):
            pytest.fail("the version is unknown")
    assert "99" in caught.value.message
    assert caught.value.context["known"] == 1
    assert caught.value.fix
    assert contents(root) == before


def cut_the_mirror(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribble_over_the_mirror(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(b"\xff\xfe rubbish")


@pytest.mark.parametrize("spoil", [cut_the_mirror, scribble_over_the_mirror, shutil.rmtree])
async def test_a_spoiled_or_deleted_run_folder_is_rebuilt_when_the_project_is_opened(
    root: Path, spoil: Callable[[Path], None]
) -> None:
    run_id = await finished_run(root)
    folder = Project(root).runs / run_id
    before = contents(folder)
    spoil(folder)
    async with Studio.open(root, opening()):
        pass
    assert contents(folder) == before


async def test_a_torn_receipt_mirror_is_completed(root: Path) -> None:
    run_id = await finished_run(root)
    (path,) = (root / ".callboard" / "audit").rglob("tool_receipts.jsonl")
    before = path.read_bytes()
    path.write_bytes(before[: len(before) - 50])
    shutil.rmtree(Project(root).runs / run_id)
    async with Studio.open(root, opening()) as studio:
        await studio.mirrors.flush()
        assert verify(studio.database, root).flaws == ()
    assert path.read_bytes() == before


# --- A clock that goes back ----------------------------------------------------------------------


class WildClock(SystemClock):
    """A wall clock that its owner sets back by an hour every time it is looked at a few times."""

    def __init__(self) -> None:
        self.looks = 0

    def now_ms(self) -> int:
        self.looks += 1
        return super().now_ms() - 3_600_000 * (self.looks // 3)


async def test_a_clock_that_goes_back_changes_no_order_and_no_result(root: Path) -> None:
    clock = WildClock()
    run_ids: list[str] = []
    async with Studio.open(root, opening(clock=clock)) as studio:
        for _ in range(3):
            run = await studio.start("recipe", {})
            run_ids.append(run.id)
            finished = await studio.engine.wait(run.id)
            assert finished.state is RunState.DONE
            assert finished.updated_at < run.created_at
        listed = [run.id for run in studio.database.read(list_runs)]
        events = studio.database.read(read_events)
        assert verify(studio.database, root).flaws == ()
    assert run_ids == sorted(set(run_ids))
    assert listed == run_ids[::-1]
    states = [event.body.state for event in events if event.type == "run.changed"]
    assert states == ["running", "done"] * 3
    assert [event.seq for event in events] == sorted(event.seq for event in events)
    assert clock.looks > 20


async def test_signals_keep_their_order_when_the_clock_goes_back(root: Path) -> None:
    script = Script(Line(SEA, hold="door"), Line(SEA, times=None))
    async with Studio.open(root, opening(script, clock=WildClock())) as studio:
        run = await studio.start("recipe", {})
        await script.reached("door")
        pausing = asyncio.ensure_future(studio.engine.signal(run.id, SignalKind.PAUSE))
        await asyncio.sleep(0)
        resuming = asyncio.ensure_future(studio.engine.signal(run.id, SignalKind.RESUME))
        script.release("door")
        await asyncio.gather(pausing, resuming)
        assert (await studio.engine.wait(run.id)).state is RunState.DONE


class SetBackClock(SystemClock):
    """A wall clock that stands an hour behind."""

    def now_ms(self) -> int:
        return super().now_ms() - 3_600_000


async def test_a_nap_is_not_longer_than_meant_when_the_clock_is_set_back(tmp_path: Path) -> None:
    from callboard.studio.packs import load_pack

    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "pack.yaml").write_text("name: naps\nchoreographies: {nap: nap.py:nap}\n", "utf-8")
    (pack / "nap.py").write_text(
        textwrap.dedent(
            '''
            from callboard.choreography import Stage, choreography


            @choreography
            async def nap(stage: Stage):
                """Sleep a moment."""
                await stage.sleep("nap", 0.2)
                return "awake"
            '''
        ),
        "utf-8",
    )
    root = new_project(tmp_path / "project")
    packs = (load_pack(pack),)
    with pytest.raises(StoreError):
        async with Studio.open(
            root, opening(packs=packs, faults=Blackout(Moment("step.after_intent")))
        ) as studio:
            run = await studio.start("nap")
            await studio.engine.wait(run.id)
    clock = SetBackClock()
    started = clock.monotonic()
    async with Studio.open(root, opening(packs=packs, clock=clock)) as studio:
        (run,) = studio.database.read(list_runs)
        finished = await studio.engine.wait(run.id)
    assert finished.result == "awake"
    assert clock.monotonic() - started < 30

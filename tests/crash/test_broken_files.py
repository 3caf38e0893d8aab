"""Files nobody may write or that somebody spoiled: refused with the way out, or mended."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bad_days import contents, finished_run, mounted, opening, run_tool

from callboard.store.connection import StoreCorrupt, StoreReadOnly
from callboard.store.migrations import MIGRATIONS, UnknownSchema
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.tools import verify

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]


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
    assert caught.value.context["known"] == MIGRATIONS[-1].number
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
        assert verify(studio.database, studio.project.trail).flaws == ()
    assert path.read_bytes() == before

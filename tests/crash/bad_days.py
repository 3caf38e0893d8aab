"""What every bad day starts from: a project, a scripted model, a finished run, a mount."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crashlab import SAMPLE

from callboard.core.vocabulary import RunState
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import Line, Script

SEA = "the lighthouse and the sea " * 10


def new_project(folder: Path) -> Path:
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    return Project.init(folder).root


def opening(script: Script | None = None, **changes: Any) -> Opening:
    provider = script or Script(Line(SEA, times=None))
    flags = {"models": {"default": "script"}}
    return Opening(providers={"script": provider}, flags=flags, **changes)


async def finished_run(root: Path) -> str:
    async with Studio.open(root, opening()) as studio:
        run = await studio.start("recipe", {})
        assert (await studio.engine.wait(run.id)).state is RunState.DONE
        return run.id


def contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


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

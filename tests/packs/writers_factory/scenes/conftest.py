"""A project on disk for every test of the scenes."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from scene_stage import Answer, SceneStage, build, open_stage

from callboard.studio.project import Project

OpenStage = Callable[..., AbstractAsyncContextManager[SceneStage]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    Project.init(root)
    return root


@pytest.fixture
def story(project: Path) -> OpenStage:
    """Open the project, filled the first time."""
    opened: list[bool] = []

    @asynccontextmanager
    async def open_it(answer: Answer | None = None, **options: Any) -> Any:
        locked = options.pop("locked", True)
        async with open_stage(project, answer, **options) as stage:
            if not opened:
                await build(stage, locked=locked)
                opened.append(True)
            yield stage

    return open_it

"""A studio on the sample project, with a scripted model and a pack written by the test."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import callboard.packs.examples as examples
from callboard.models import Script
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

OpenStudio = Callable[..., AbstractAsyncContextManager[Studio]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(Path(examples.__file__).parent / "sample", root)
    Project.init(root)
    return root


@pytest.fixture
def open_studio(project: Path) -> OpenStudio:
    @asynccontextmanager
    async def open_it(script: Script, *packs: Path, **flags: Any) -> AsyncIterator[Studio]:
        async with open_scripted(project, script, *packs, flags=flags) as studio:
            yield studio

    return open_it


@pytest.fixture
def write_pack(tmp_path: Path) -> Callable[..., Path]:
    def write(body: str, prompts: dict[str, str] | None = None, agents: str = "") -> Path:
        root = tmp_path / "pack"
        (root / "prompts").mkdir(parents=True)
        (root / "play.py").write_text(
            "from typing import Any\n"
            "from callboard.choreography import Node, Stage, choreography, perform_dag\n\n" + body
        )
        for name, text in (prompts or {}).items():
            (root / "prompts" / f"{name}.md").write_text(text)
        staff = agents or "agents:\n  - {id: writer, owns: prose}\n"
        (root / "pack.yaml").write_text(
            f"name: mine\nchoreographies: {{play: 'play.py:play'}}\n{staff}"
        )
        return root

    return write

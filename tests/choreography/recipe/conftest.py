"""A small project, and a studio with the little house's pack in it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from little_house import OUTLINE, PACK, OpenHouse, says

from callboard.models import Script
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    files = {
        OUTLINE: "# Gate\n\n### Arrival\n\n- Kael reaches the gate.\n\n### Breach\n\n### Ashes\n",
        "Canon.md": "# Canon\n\nKael has grey eyes.\n",
        "Story/Scenes/SCN-01.md": "# One\n\nKael slept.\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    Project.init(root)
    return root


@pytest.fixture
def open_house(project: Path) -> OpenHouse:
    @asynccontextmanager
    async def open_it(
        script: Script | None = None,
        *,
        opening: dict[str, Any] | None = None,
        models: dict[str, Any] | None = None,
        **settings: Any,
    ) -> AsyncIterator[Studio]:
        flags: dict[str, Any] = {"pipeline": {"single_flight": "off", **settings}}
        if models is not None:
            flags["models"] = models
        more = {"flags": flags, **(opening or {})}
        async with open_scripted(project, script or Script(says()), PACK, **more) as studio:
            yield studio

    return open_it

"""The pytest plugin: a project of your pack, a scripted model, and a process that dies on demand.

Installing Callboard is enough to have it. Loads nothing of Callboard until a fixture is asked for.
"""

import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from callboard.core.vocabulary import RunRecord
    from callboard.models import Script
    from callboard.store.faults import FaultPoints
    from callboard.studio.studio import Studio
    from callboard.testing.faults import Moment

if "callboard.testing.conformance" not in sys.modules:
    pytest.register_assert_rewrite("callboard.testing.conformance")

OpenStudio = Callable[..., "AbstractAsyncContextManager[Studio]"]
"""Opens the project: `async with studio() as opened`; takes `faults`, `recover` and `flags`."""
Perform = Callable[..., "Awaitable[RunRecord]"]
"""Runs a choreography to its end: `await perform("advise", days=7)`."""


@pytest.fixture
def pack() -> "str | Path":
    """Say which pack is tested: an installed one by name, or its folder. Tests override this."""
    return "examples"


@pytest.fixture
def answers() -> dict[str, Any]:
    """Hold what the human answers, by the keys of the questions."""
    return {}


@pytest.fixture
def script() -> "Script":
    """Return the model: it says what `script.add(...)` tells it to, and remembers what it heard."""
    from callboard.models import Script

    return Script()


@pytest.fixture
def project(pack: "str | Path", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a new project for the pack; the user's own settings stay outside."""
    from callboard.testing.witness import make_project

    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"CALLBOARD_{name}_DIR", str(tmp_path / "home" / name.lower()))
    return make_project(tmp_path / "project", pack).root


@pytest.fixture
def studio(project: Path, pack: "str | Path", script: "Script") -> OpenStudio:
    """Return what opens the project with the scripted model."""
    from callboard.testing.opening import open_scripted
    from callboard.testing.witness import folder_of

    def opened(
        *,
        faults: "FaultPoints | None" = None,
        recover: bool = True,
        flags: "Mapping[str, Any] | None" = None,
    ) -> "AbstractAsyncContextManager[Studio]":
        more = {"faults": faults, "flags": flags, "recover": recover}
        return open_scripted(project, script, *folder_of(pack), **more)

    return opened


@pytest.fixture
def perform(studio: OpenStudio, answers: dict[str, Any]) -> Perform:
    """Return what runs a choreography to its end."""
    from callboard.testing.witness import finish

    async def performed(name: str, /, **args: Any) -> "RunRecord":
        async with studio() as opened:
            return await finish(opened, (await opened.start(name, args)).id, answers)

    return performed


@pytest.fixture
def crash(studio: OpenStudio, answers: dict[str, Any]) -> Perform:
    """Return what runs a choreography, loses the process at a moment, and lets the run go on.

    What was handed in by then is on disk.
    """
    from callboard.store.connection import StoreError
    from callboard.testing.faults import Blackout
    from callboard.testing.witness import finish

    async def crashed(moment: "Moment", name: str, /, **args: Any) -> "RunRecord":
        run_id = ""
        try:
            dark = Blackout(moment)
            async with studio(faults=dark) as opened:
                dark.keep = opened.database.flush
                run_id = (await opened.start(name, args)).id
                await finish(opened, run_id, answers)
        except StoreError:
            async with studio() as opened:
                return await finish(opened, run_id, answers)
        raise AssertionError(f"{moment} was never reached")

    return crashed

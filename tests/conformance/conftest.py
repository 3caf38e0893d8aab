"""Every play on every dispatcher, with a witness of what models and tools are asked to do."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playhouse import DISPATCHERS, PLAYS, House

import callboard.packs.examples as examples
from callboard.studio.project import Project
from callboard.tools import ToolService


@pytest.fixture(params=sorted(DISPATCHERS))
def dispatcher(request: pytest.FixtureRequest) -> dict[str, Any]:
    return DISPATCHERS[request.param]


@pytest.fixture
def make_house(
    tmp_path: Path,
    dispatcher: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., House]:
    """Return a maker of houses; what tools do in any of them is written down beside the models."""
    houses: list[House] = []
    execute = ToolService.execute

    async def witnessed(self: ToolService, call: Any, *args: Any, **kwargs: Any) -> Any:
        for house in houses:
            if self.files.root == house.root:
                house.executed.append((call.run_id, call.step_key))
                await house.doors.wait()
        return await execute(self, call, *args, **kwargs)

    monkeypatch.setattr(ToolService, "execute", witnessed)

    def make(name: str) -> House:
        root = tmp_path / f"project{len(houses)}"
        shutil.copytree(Path(examples.__file__).parent / "sample", root)
        house = House(Project.init(root).root, PLAYS[name], dispatcher)
        houses.append(house)
        return house

    return make


@pytest.fixture(params=sorted(PLAYS))
def new_house(
    request: pytest.FixtureRequest, make_house: Callable[[str], House]
) -> Callable[[], House]:
    """Return a maker of fresh projects for each play in turn."""
    return lambda: make_house(request.param)

"""Every scenario on every dispatcher, with a witness of what models and tools are asked to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playhouse import DISPATCHERS, PLAYS

from callboard.testing.witness import WitnessedProject
from sizes import IS_FULL

# What is played on a server with the tests; every scenario is with `make chaos`.
ON_A_SERVER = ("[recipe", "[turn-", "-recipe", "-turn-")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Play a few scenarios on a server with the tests, and all of them with `make chaos`."""
    here = Path(__file__).parent
    left: list[pytest.Item] = []
    for item in items:
        name = item.name
        if here in item.path.parents and "postgres" in name:
            if IS_FULL:
                item.add_marker(pytest.mark.chaos)
            elif any(play in name for play in PLAYS) and not any(k in name for k in ON_A_SERVER):
                left.append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]


@pytest.fixture(params=sorted(DISPATCHERS))
def dispatcher(request: pytest.FixtureRequest) -> dict[str, Any]:
    return DISPATCHERS[request.param]


@pytest.fixture
def make_house(tmp_path: Path, dispatcher: dict[str, Any]) -> Callable[..., WitnessedProject]:
    """Return a maker of projects by the name of a scenario."""
    houses: list[WitnessedProject] = []

    def make(name: str) -> WitnessedProject:
        root = tmp_path / f"project{len(houses)}"
        houses.append(WitnessedProject(root, PLAYS[name], dispatcher))
        return houses[-1]

    return make


@pytest.fixture(params=sorted(PLAYS))
def new_house(
    request: pytest.FixtureRequest, make_house: Callable[[str], WitnessedProject]
) -> Callable[[], WitnessedProject]:
    """Return a maker of fresh projects for each scenario in turn."""
    return lambda: make_house(request.param)


@pytest.fixture(autouse=True)
def on_both_stores(store: str) -> None:
    """Run every test of this folder on a file and on a server."""

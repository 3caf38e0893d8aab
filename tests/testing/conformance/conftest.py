"""Every scenario on every dispatcher, with a witness of what models and tools are asked to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playhouse import DISPATCHERS, PLAYS

from callboard.testing.witness import WitnessedProject


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

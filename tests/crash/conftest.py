"""The warm process that forks performers, one per test worker, and a project for bad days."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from bad_days import new_project
from crashlab import Expected, Stagehand, undisturbed

from stores import is_on_server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project")


@pytest.fixture(scope="session")
def stagehand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stagehand]:
    with employ(tmp_path_factory) as hand:
        yield hand


@pytest.fixture(scope="session")
def second_stagehand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stagehand]:
    with employ(tmp_path_factory) as hand:
        yield hand


@contextmanager
def employ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stagehand]:
    errors = tmp_path_factory.mktemp("stagehand") / "stderr"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "stagehand.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
        with process:
            yield Stagehand(process, errors)
            assert process.stdin is not None
            process.stdin.close()


@pytest.fixture(scope="session")
def calm(
    stagehand: Stagehand, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Expected]:
    """Return what each play leaves behind when nobody disturbs it, played once per worker."""
    played = cache(lambda play, _on: undisturbed(stagehand, tmp_path_factory.mktemp("calm"), play))
    return lambda play: played(play, is_on_server())

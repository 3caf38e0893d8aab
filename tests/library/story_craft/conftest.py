"""Projects on disk for the craft tools."""

import shutil
from pathlib import Path

import pytest
from craft_project import CraftProject

FORTRESS = Path(__file__).parents[2] / "fortress"


@pytest.fixture
def project(tmp_path: Path) -> CraftProject:
    return CraftProject(tmp_path)


@pytest.fixture
def fortress(tmp_path: Path) -> CraftProject:
    shutil.copytree(FORTRESS / "project", tmp_path, dirs_exist_ok=True)
    return CraftProject(tmp_path)


@pytest.fixture
def clean_fortress(tmp_path: Path) -> CraftProject:
    shutil.copytree(FORTRESS / "clean", tmp_path, dirs_exist_ok=True)
    return CraftProject(tmp_path)

"""A project somebody else made, a folder beside it that must stay as it is, and a door to both."""

import os
import shutil
from pathlib import Path

import pytest
from cloned_project import Clone

import callboard.packs.examples as examples
from callboard.studio.project import Project

SAMPLE = Path(examples.__file__).parent / "sample"
REPLIES = """\
replies:
  - text: >-
      The lighthouse keeper climbs the hundred and twelve steps every evening and looks at the sea,
      while the lamp of the lighthouse turns above the village that cannot sleep.
    times: always
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where the user's own folders lie, as variables."""
    folder = tmp_path_factory.mktemp("home")
    return {
        "HOME": str(folder),
        "CALLBOARD_CONFIG_DIR": str(folder / "config"),
        "CALLBOARD_DATA_DIR": str(folder / "data"),
        "CALLBOARD_CACHE_DIR": str(folder / "cache"),
    }


@pytest.fixture
def clone(tmp_path: Path, home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Clone:
    """A project the user trusts: what lies in its `.callboard/` counts."""
    for name in [each for each in os.environ if each.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    root, outside = tmp_path / "clone", tmp_path / "outside"
    shutil.copytree(SAMPLE, root)
    Project.init(root)
    (root / "good.yaml").write_text(REPLIES)
    (outside / "folder").mkdir(parents=True)
    (outside / "file.txt").write_text("outside")
    return Clone(root, outside)

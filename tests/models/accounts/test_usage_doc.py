"""The example of docs/usage.md runs as it is printed, and its settings are settings."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from callboard.core.settings import Settings

DOC = (Path(__file__).parents[3] / "docs" / "usage.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
SETTINGS = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)


def test_the_example_runs() -> None:
    (example,) = EXAMPLES
    command = [sys.executable, "-W", "error", "-c", example]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Aye." in done.stdout
    assert "The budget of run:run_1 allows 1 call;" in done.stdout


@pytest.mark.parametrize("number", range(2))
def test_the_settings_are_accepted(number: int) -> None:
    assert Settings.model_validate(yaml.safe_load(SETTINGS[number])) != Settings()

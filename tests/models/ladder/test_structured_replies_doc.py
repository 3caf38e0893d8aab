"""The examples of docs/structured-replies.md run as they are printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOC = Path(__file__).parents[3] / "docs" / "structured-replies.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int) -> None:
    command = [sys.executable, "-W", "error", "-c", EXAMPLES[number]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr

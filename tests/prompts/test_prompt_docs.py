"""The examples in the documents of the prompts and replies rooms run as they stand."""

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["prompts.md", "replies.md"])
def test_the_examples_run(name: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text(), re.M | re.S)
    assert len(blocks) >= 3
    scope: dict[str, Any] = {"__name__": "docs"}
    for block in blocks:
        exec(compile(block, name, "exec"), scope)  # noqa: S102

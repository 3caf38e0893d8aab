"""Core is cheap to import: the doors start with it."""

import subprocess
import sys

import pytest

HEAVY = ("pydantic", "yaml", "sqlalchemy", "numpy", "rich", "asyncio", "socket", "anyio")
MODULES = (
    "callboard",
    "callboard.core",
    "callboard.core.errors",
    "callboard.core.events",
    "callboard.core.ids",
    "callboard.core.vocabulary",
)


@pytest.mark.parametrize("module", MODULES)
def test_importing_core_brings_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "[]"

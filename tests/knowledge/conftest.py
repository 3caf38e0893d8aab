"""Knowledge is kept on both stores."""

import pytest


@pytest.fixture(autouse=True)
def on_both_stores(store: str) -> None:
    """Run every test of this folder on a file and on a server."""

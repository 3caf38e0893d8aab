"""An engine on a real database, for every dispatcher there is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from theatre import DISPATCHERS, Body, open_in


@pytest.fixture(params=sorted(DISPATCHERS))
def open_theatre(request: pytest.FixtureRequest, tmp_path: Path, store: str) -> Callable[..., Any]:
    """Return a context manager that opens the same project again and again, on both stores."""

    def open_it(bodies: dict[str, Body], **changes: Any) -> Any:
        return open_in(tmp_path, bodies, request.param, **changes)

    return open_it

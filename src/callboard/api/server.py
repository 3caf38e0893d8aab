"""The server as every door of ours runs it: which protocols, which limits, which patience."""

from typing import Final

import uvicorn
from fastapi import FastAPI

from callboard.api.connection import PatientConnection
from callboard.api.patience import PATIENCE, Patience

BACKLOG: Final = 2048
MOST_SOCKET_BYTES: Final = 1_000_000
_STOP_SECONDS: Final = 3


def server_config(
    app: FastAPI,
    *,
    lifespan: bool = True,
    stop_seconds: int = _STOP_SECONDS,
    patience: Patience = PATIENCE,
) -> uvicorn.Config:
    """Return how an application is served, the same everywhere, whatever else is installed."""
    return uvicorn.Config(
        app,
        lifespan="on" if lifespan else "off",
        log_level="warning",
        loop="asyncio",
        http=PatientConnection.with_patience(patience),
        ws="websockets-sansio",
        ws_max_size=MOST_SOCKET_BYTES,
        backlog=BACKLOG,
        timeout_keep_alive=patience.keep_alive_seconds,
        timeout_graceful_shutdown=stop_seconds,
    )

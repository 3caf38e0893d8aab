"""An application behind a real server on a free port, for tests that go through the HTTP door."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import httpx
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from callboard.api.bodies import PATIENCE, Patience
from callboard.api.server import server_config

CHANGES = {"X-Callboard": "1"}
"""What a client of the API sends along, as the reference says."""


@asynccontextmanager
async def served(app: FastAPI, patience: Patience = PATIENCE) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an application for as long as the context lasts; give a client that knows where."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(app, stop_seconds=1, patience=patience))
    server.capture_signals = nullcontext  # type: ignore[method-assign]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=address, timeout=60, headers=CHANGES) as client:
            while not await _is_up(client):
                await asyncio.sleep(0)
            yield client
    finally:
        server.should_exit = True
        await serving
        listening.close()


def client_of(app: FastAPI) -> TestClient:
    """Return a client that shows what the server answers, surprises included."""
    return TestClient(
        app, base_url="http://localhost", raise_server_exceptions=False, headers=CHANGES
    )


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/api/health")).status_code == 200
    except httpx.ConnectError:
        return False

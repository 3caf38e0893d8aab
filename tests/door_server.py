"""An application behind a real server on a free port, for tests that go through the HTTP door."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import httpx
import uvicorn
from fastapi import FastAPI


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Serve an application for as long as the context lasts; give a client that knows where."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, http="h11")
    server = uvicorn.Server(config)
    server.capture_signals = nullcontext  # type: ignore[method-assign]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            while not await _is_up(client):
                await asyncio.sleep(0)
            yield client
    finally:
        server.should_exit = True
        await serving
        listening.close()


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/api/health")).status_code == 200
    except httpx.ConnectError:
        return False

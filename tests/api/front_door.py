"""A project behind a real server, and plain connections to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from callboard.api.app import create_app
from callboard.api.bodies import PATIENCE, Patience
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.testing import SCRIPTED
from door_server import served


@dataclass
class Door:
    """A running server, seen from the street."""

    client: httpx.AsyncClient
    address: str
    port: int

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Wire"]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Wire(reader, writer)
        finally:
            writer.close()

    async def sessions(self) -> int:
        """Count what changes have been let in."""
        return len((await self.client.get("/api/sessions")).json())


@dataclass
class Wire:
    """A connection that sends whatever it likes, when it likes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, text: str) -> None:
        self.writer.write(text.replace("\n", "\r\n").encode())

    async def status(self) -> int:
        return int((await self.reader.readuntil(b"\r\n")).split()[1])

    async def to_the_end(self) -> bytes:
        """Return what is still said until the server closes the connection."""
        try:
            return await self.reader.read()
        except ConnectionResetError:
            # What was on its way when the server closed it is answered like this.
            return b""


@dataclass
class House:
    """A folder that servers can be opened on."""

    root: Path

    @classmethod
    def build(cls, root: Path) -> "House":
        root.mkdir()
        Project.init(root)
        return cls(root)

    def opening(self) -> Opening:
        home = self.root.parent / "home"
        environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
        return Opening(flags=dict(SCRIPTED), environment=environment)

    @asynccontextmanager
    async def serve(self, patience: Patience = PATIENCE, **options: Any) -> AsyncIterator[Door]:
        app = create_app(self.root, self.opening(), patience=patience, **options)
        app.state.pack_routes.include_all()
        async with served(app, patience) as client:
            yield Door(client, str(client.base_url).rstrip("/"), int(client.base_url.port or 0))

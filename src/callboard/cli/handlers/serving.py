"""The server at the command line: opened, announced, closed in good order."""

import asyncio
import gc
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from callboard.api.app import DescribedApi, create_app
from callboard.api.entrance import require_token_for
from callboard.api.server import BACKLOG, server_config
from callboard.cli import exits
from callboard.cli.bridge import LoopEnding
from callboard.cli.handlers.opening import Choices
from callboard.cli.output import echo_json_line, remark
from callboard.core.errors import InvalidInput
from callboard.studio.configuration import Configuration
from callboard.studio.project import Project
from callboard.tools import off_loop
from callboard.ui.mounting import hang_up_pages, page_of

TOKEN_VARIABLE: Final = "CALLBOARD_API_TOKEN"  # noqa: S105 - the name of a variable

_SWITCH_SECONDS: Final = 0.001


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where a server listens."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class _Notice:
    """What a server says of itself once it answers."""

    address: str
    root: Path
    as_json: bool

    def give(self, *, has_page: bool) -> None:
        url, page = f"{self.address}/api", f"{self.address}/" if has_page else None
        if self.as_json:
            echo_json_line({"url": url, "page": page, "project": str(self.root)})
            return
        remark(f"Serving {self.root} at {url} (Ctrl-C stops).")
        if page:
            remark(f"Its page: {page}")


@asynccontextmanager
async def _following(configuration: Configuration) -> AsyncGenerator[None]:
    """Have changed settings read again, and say so, for as long as the context lasts."""
    stop_telling = configuration.listen(lambda notice: remark(notice.message))
    watching = asyncio.create_task(configuration.watch())
    try:
        yield
    finally:
        stop_telling()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


class _ProjectServer(uvicorn.Server):
    """Opens the project itself: what keeps it from opening is then an error like any other."""

    def __init__(self, app: DescribedApi, notice: _Notice) -> None:
        super().__init__(server_config(app, lifespan=False))
        self._app = app
        self._notice = notice
        self._open = AsyncExitStack()
        self.ending = LoopEnding()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Once: runs are let go and answers finished, by a deadline. Twice: at once.
        self.ending.ask()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._open.enter_async_context(self._app.router.lifespan_context(self._app))
        await self._open.enter_async_context(_following(self._app.state.studio.configuration))
        await off_loop(self._app.warm_up)
        # What is there now stays: looking through it again and again would hold requests up.
        gc.freeze()
        await super().startup(sockets)
        self._notice.give(has_page=page_of(self._app.state.studio) is not None)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if not self.force_exit:
            await self._open.aclose()


def serve_project(choices: Choices, address: ListenAddress) -> int:
    """Serve a project until the user stops it."""
    token = os.environ.get(TOKEN_VARIABLE) or None
    require_token_for(address.host, token)
    root = Project.find(Path.cwd() if choices.project is None else choices.project).root
    # Work in threads gives way to who asks for something new five times as often as by default.
    sys.setswitchinterval(_SWITCH_SECONDS)
    with _listen(address) as listening:
        app = create_app(root, replace(choices.opening(), recover=True), token=token)
        hang_up_pages(app)
        shown = f"[{address.host}]" if ":" in address.host else address.host
        told = f"http://{shown}:{listening.getsockname()[1]}"
        server = _ProjectServer(app, _Notice(told, root, choices.as_json))
        try:
            server.run(sockets=[listening])
        finally:
            server.ending.call_off()
    return exits.OK


def _listen(address: ListenAddress) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        raise InvalidInput(
            f"Cannot listen on {address.host}:{address.port}: {error.strerror}",
            fix="Choose another port with --port, or 0 for a free one.",
        ) from error
    listening.listen(BACKLOG)
    return listening

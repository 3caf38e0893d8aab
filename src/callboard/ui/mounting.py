"""Mounting: hangs the pages up beside the API. NiceGUI is loaded when a page is first opened.

Who may come in is not decided here: the server's entrance has looked at every request before.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.packs.alfred.house import Alfred

KITCHEN: Final = "/kitchen"
ALFRED: Final = "callboard.alfred"
_NO_KITCHEN: Final = {
    "error": {
        "code": "no_page",
        "message": "This project has no page",
        "details": {"fix": "Pages are there for projects of the pack alfred; see `/api`."},
    }
}
# The page's own scripts are inline and build their templates at run time. Nothing comes from
# elsewhere, nothing is sent elsewhere, and nobody may put the page into a frame.
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval';"
        " style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:;"
        " connect-src 'self' ws: wss:; object-src 'none'; base-uri 'self'; form-action 'self';"
        " frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def hang_up_pages(app: FastAPI) -> None:
    """Have an application show the pages of its project; they end before the project is closed."""
    pages = Pages()
    whole = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(inner: FastAPI) -> AsyncGenerator[None]:
        async with whole(inner):
            try:
                yield
            finally:
                await pages.close()

    async def to_kitchen() -> RedirectResponse:
        return RedirectResponse(f"{KITCHEN}/", 307)

    app.router.lifespan_context = lifespan
    for path in ("/", KITCHEN):
        app.add_api_route(path, to_kitchen, methods=["GET"], include_in_schema=False)
    app.mount(KITCHEN, pages)


class Pages:
    """The pages as one application, opened by the first who looks at one."""

    def __init__(self) -> None:
        """Begin closed."""
        self._lock = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show a page, or say that this project has none."""
        alfred: Alfred = scope["app"].state.alfred
        if not alfred.is_used:
            await JSONResponse(_NO_KITCHEN, 404)(scope, receive, send)
            return
        app = await self._opened()
        await app({**scope, ALFRED: alfred}, receive, _guarded(send))

    async def close(self) -> None:
        """Let go of every open page."""
        self._closing.set()
        if self._keeper is not None:
            await self._keeper

    async def _opened(self) -> ASGIApp:
        async with self._lock:
            if self._app is None:
                # Off the event loop: runs and requests go on while a second of imports passes.
                host = await asyncio.to_thread(_load)
                is_open = asyncio.Event()
                self._keeper = asyncio.create_task(self._keep(host, is_open))
                await is_open.wait()
                self._app = host
            return self._app

    async def _keep(self, host: FastAPI, is_open: asyncio.Event) -> None:
        async with host.router.lifespan_context(host):
            is_open.set()
            await self._closing.wait()


def _load() -> FastAPI:
    from callboard.ui.host import open_host

    return open_host()


def _guarded(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            told = [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *told]}
        await send(message)

    return guarded

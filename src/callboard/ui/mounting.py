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
# The host a page is opened at, as the entrance has read it.
HOST: Final = "callboard.host"
_NO_KITCHEN: Final = {
    "error": {
        "code": "no_page",
        "message": "This project has no page",
        "details": {"fix": "Pages are there for projects of the pack alfred; see `/api`."},
    }
}
# The page's own scripts are inline and build their templates at run time. Nothing comes from
# elsewhere, nothing is sent elsewhere, and nobody may put the page into a frame. Not every browser
# counts a socket of the page's own host as its own, so it is named.
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval';"
        " style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:;"
        " connect-src 'self' ws://{host} wss://{host}; object-src 'none'; base-uri 'self';"
        " form-action 'self';"
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
        await app({**scope, ALFRED: alfred}, receive, _guarded(send, scope.get(HOST, "")))

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


def _guarded(send: Send, host: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name: value.replace("{host}", host) for name, value in _HEADERS.items()}
            told = [(name.lower().encode(), value.encode()) for name, value in named.items()]
            message = {**message, "headers": [*message.get("headers", ()), *told]}
        await send(message)

    return guarded

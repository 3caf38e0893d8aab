"""Mounting: hangs the pages up beside the API. NiceGUI is loaded when a page is first opened.

Who may come in is not decided here: the server's entrance has looked at every request before.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callboard.studio.pack_checks import taken_twice
from callboard.studio.packs import Pack, installed_packs
from callboard.studio.studio import Studio

_log = logging.getLogger(__name__)

STUDIO: Final = "callboard.studio"
"""Where a page finds the open project in its request's scope."""
# The host a page is opened at, as the entrance has read it.
HOST: Final = "callboard.host"
# Where the server itself answers.
_TAKEN: Final = ("/api", "/enter")
_NO_PAGE: Final = JSONResponse(
    {
        "error": {
            "code": "no_page",
            "message": "This project has no page",
            "details": {
                "fix": "Pages are there for projects of packs that have one; see"
                " `/api/openapi.json`."
            },
        }
    },
    404,
)
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
    """Have an application show the pages of packs; they end before the project is closed."""
    pages = Pages()
    whole = app.router.lifespan_context
    packs: dict[str, Pack] = {}
    for pack in installed_packs():
        if pack.described.page is not None and pack.described.page.path not in _TAKEN:
            packs.setdefault(pack.described.page.path, pack)
    for problem in colliding_pages():
        _log.warning("%s", problem)

    @asynccontextmanager
    async def lifespan(inner: FastAPI) -> AsyncGenerator[None]:
        async with whole(inner):
            try:
                yield
            finally:
                await pages.close()

    async def to_page(request: Request) -> Response:
        studio: Studio = request.app.state.studio
        path = page_of(studio)
        return _NO_PAGE if path is None else RedirectResponse(f"{path}/", 307)

    app.router.lifespan_context = lifespan
    app.add_api_route("/", to_page, methods=["GET"], include_in_schema=False)
    for path, pack in packs.items():
        app.add_api_route(path, _with_slash(path), methods=["GET"], include_in_schema=False)
        app.mount(path, _PackPage(pages, pack))


def colliding_pages() -> list[str]:
    """Say which pages of packs are left out because another hangs at the path."""
    return list(taken_twice(installed_packs(), "page", dict.fromkeys(_TAKEN, "Callboard itself")))


def page_of(studio: Studio) -> str | None:
    """Return where the page of a project hangs, if it has one: its own pack's before another's."""
    pages = (pack.described.page for pack in studio.repertoire.used())
    return next((page.path for page in pages if page is not None), None)


def _with_slash(path: str) -> Callable[[], Awaitable[Response]]:
    async def redirect() -> Response:
        return RedirectResponse(f"{path}/", 307)

    return redirect


class _PackPage:
    """The page of one pack."""

    def __init__(self, pages: "Pages", pack: Pack) -> None:
        self._pages = pages
        self._pack = pack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        studio: Studio = scope["app"].state.studio
        if self._pack.name not in {pack.name for pack in studio.repertoire.used()}:
            await _NO_PAGE(scope, receive, send)
            return
        host = await self._pages.opened(self._pack)
        root = scope["root_path"]
        if scope["path"].removeprefix(root) in ("", "/"):
            scope = {**scope, "path": f"{root}/{self._pack.name}"}
        await host({**scope, STUDIO: studio}, receive, _guarded(send, scope.get(HOST, "")))


class Pages:
    """The pages as one application, opened by the first who looks at one."""

    def __init__(self) -> None:
        """Begin closed."""
        self._lock = asyncio.Lock()
        self._keeper: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def close(self) -> None:
        """Let go of every open page."""
        self._closing.set()
        if self._keeper is not None:
            await self._keeper

    async def opened(self, pack: Pack) -> ASGIApp:
        """Return the host with a pack's page on it."""
        async with self._lock:
            # Off the event loop: runs and requests go on while a second of imports passes.
            host = await asyncio.to_thread(_load, pack)
            if self._keeper is None:
                is_open = asyncio.Event()
                self._keeper = asyncio.create_task(self._keep(host, is_open))
                await is_open.wait()
            return host

    async def _keep(self, host: FastAPI, is_open: asyncio.Event) -> None:
        async with host.router.lifespan_context(host):
            is_open.set()
            await self._closing.wait()


def _load(pack: Pack) -> FastAPI:
    from callboard.ui.host import show_page

    return show_page(pack)


def _guarded(send: Send, host: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name: value.replace("{host}", host) for name, value in _HEADERS.items()}
            told = [(name.lower().encode(), value.encode()) for name, value in named.items()]
            message = {**message, "headers": [*message.get("headers", ()), *told]}
        await send(message)

    return guarded

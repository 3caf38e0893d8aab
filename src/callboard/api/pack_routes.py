"""The routes of packs: the project's own from the start, another's once they are asked for.

A pack whose routes cannot be loaded is named in the log and answered for with its error; a route
that another has already is left out. Everything else works.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from callboard.api import failure
from callboard.core.errors import CallboardError
from callboard.studio.packs import Pack
from callboard.studio.studio import Studio
from callboard.tools import off_loop

_log = logging.getLogger(__name__)
PREFIX = "/api"


class PackRoutes:
    """What packs hang up in one application."""

    def __init__(self, app: FastAPI, packs: tuple[Pack, ...]) -> None:
        """Take the packs, those first that are asked first."""
        self._app = app
        self._packs = packs
        self._lock = asyncio.Lock()
        self._hung: set[str] = set()
        self._open: tuple[Studio, AsyncExitStack] | None = None
        self.problems: list[str] = []

    @asynccontextmanager
    async def opened(self, studio: Studio) -> AsyncGenerator[None]:
        """Let packs serve an open project for as long as the context lasts."""
        async with AsyncExitStack() as stack:
            self._open = (studio, stack)
            yield
        self._open = None

    def body_limits(self) -> tuple[tuple[re.Pattern[str], int], ...]:
        """Return how large bodies may be where packs allow more than usual."""
        return tuple(
            (re.compile("[^/]+".join(map(re.escape, f"{PREFIX}{path}".split("*")))), most)
            for pack in self._packs
            for entry in pack.described.routes
            for path, most in entry.bodies.items()
        )

    def home(self, path: str) -> Pack | None:
        """Return the pack that answers a path, if it has not been hung up yet."""
        for pack in self._packs:
            named = (path for entry in pack.described.routes for path in entry.paths)
            if pack.name not in self._hung and any(_is_below(path, each) for each in named):
                return pack
        return None

    async def hang_up(self, pack: Pack) -> None:
        """Hang up what a pack brings, once; what is wrong with it is raised and told."""
        async with self._lock:
            if pack.name in self._hung:
                return
            try:
                # Off the loop: a second of imports must not hold anybody up.
                routers = await off_loop(_load, pack)
                serving = pack.hook("serving")
                if serving is not None and self._open is not None:
                    studio, stack = self._open
                    await stack.enter_async_context(serving(studio))
            except CallboardError as error:
                self._tell(f"the routes of pack {pack.name} are left out: {error.message}")
                self._hung.add(pack.name)
                return
            self.include(pack, routers)

    def include(self, pack: Pack, routers: tuple[APIRouter, ...] | None = None) -> None:
        """Hang up the routes of a pack; one that is taken is left out and told."""
        self._hung.add(pack.name)
        taken = _taken(self._app.routes)
        for router in _load(pack) if routers is None else routers:
            free = APIRouter()
            for route in router.routes:
                collides = _signatures(route, PREFIX) & taken
                if collides:
                    told = ", ".join(" ".join(each) for each in sorted(collides))
                    self._tell(f"route {told} of pack {pack.name} is left out: it is taken")
                else:
                    free.routes.append(route)
            self._app.include_router(free, prefix=PREFIX, responses=failure.ERRORS)
        self._app.openapi_schema = None

    def include_all(self) -> None:
        """Hang up the routes of every pack, for who describes or tries them all."""
        for pack in self._packs:
            if pack.name not in self._hung:
                self.include(pack)

    def _tell(self, problem: str) -> None:
        self.problems.append(problem)
        _log.warning("%s", problem)


class OnDemand:
    """Has the routes of another pack hung up by the first request for one of its paths."""

    def __init__(self, app: ASGIApp, routes: PackRoutes) -> None:
        """Take the next application and what hangs routes up."""
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, to routes that are there."""
        if scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/"):
            pack = self._routes.home(scope["path"].removeprefix(PREFIX))
            if pack is not None:
                await self._routes.hang_up(pack)
        await self._app(scope, receive, send)


def _load(pack: Pack) -> tuple[APIRouter, ...]:
    return tuple(router for entry in pack.described.routes for router in pack.routers(entry))


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")


def _taken(routes: Any) -> set[tuple[str, str]]:
    return {each for route in routes for each in _signatures(route)}


def _signatures(route: Any, prefix: str = "") -> set[tuple[str, str]]:
    """Return by which methods and path a route is found; names of parameters do not count."""
    path = re.sub(r"\{[^{}]*\}", "{}", prefix + getattr(route, "path", ""))
    return {(method, path) for method in getattr(route, "methods", None) or ()}

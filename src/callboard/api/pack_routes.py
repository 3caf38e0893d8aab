"""The routes of packs: the project's own from the start, another's once they are asked for.

A pack whose routes cannot be loaded, or a route that another has already, is left out and named in
the log. Everything else works.
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
from callboard.studio.packs import Pack, PackInvalid
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
        """Return a pack that answers a path and has not been hung up yet."""
        for pack in self._packs:
            named = (path for entry in pack.described.routes for path in entry.paths)
            if pack.name not in self._hung and any(_is_below(path, each) for each in named):
                return pack
        return None

    async def hang_up(self, pack: Pack) -> None:
        """Hang up what a pack brings, once; what is wrong with it is told."""
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
                self.include(pack, routers)
            except Exception as error:  # noqa: BLE001 - the border to a pack: the server serves on
                self._hung.add(pack.name)
                told = error.message if isinstance(error, CallboardError) else repr(error)
                self._tell(f"the routes of pack {pack.name} are left out: {told}")

    def include(self, pack: Pack, routers: tuple[APIRouter, ...] | None = None) -> None:
        """Hang up the routes of a pack; one that is taken is left out and told."""
        self._hung.add(pack.name)
        taken = _taken(self._app.routes)
        free = APIRouter()
        for router in _load(pack) if routers is None else routers:
            for route in router.routes:
                problem = _collision(pack, route, taken)
                if problem is None:
                    free.routes.append(route)
                else:
                    self._tell(problem)
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
            path = scope["path"].removeprefix(PREFIX)
            # Two packs may answer paths of one beginning.
            while (pack := self._routes.home(path)) is not None:
                await self._routes.hang_up(pack)
        await self._app(scope, receive, send)


def colliding_routes(packs: tuple[Pack, ...], own: tuple[APIRouter, ...]) -> list[str]:
    """Say which routes of packs are left out because another has them, and which are none."""
    taken = {each for router in own for each in _taken(router.routes, PREFIX)}
    problems: list[str] = []
    for pack in packs:
        try:
            routers = _load(pack)
        except PackInvalid as error:
            problems.append(f"the routes of pack {pack.name} are left out: {error.message}")
            continue
        routes = [route for router in routers for route in router.routes]
        problems += filter(None, (_collision(pack, route, taken) for route in routes))
        taken |= _taken(routes, PREFIX)
    return problems


def _load(pack: Pack) -> tuple[APIRouter, ...]:
    routers = tuple(router for entry in pack.described.routes for router in pack.routers(entry))
    for router in routers:
        if not isinstance(router, APIRouter):
            raise PackInvalid(f"pack {pack.name} names a router that is {type(router).__name__}")
    return routers


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")


def _collision(pack: Pack, route: Any, taken: set[tuple[str, str]]) -> str | None:
    collides = _signatures(route, PREFIX) & taken
    told = ", ".join(" ".join(each) for each in sorted(collides))
    return f"route {told} of pack {pack.name} is left out: it is taken" if collides else None


def _taken(routes: Any, prefix: str = "") -> set[tuple[str, str]]:
    return {each for route in routes for each in _signatures(route, prefix)}


def _signatures(route: Any, prefix: str = "") -> set[tuple[str, str]]:
    """Return by which methods and path a route is found; names of parameters do not count."""
    path = re.sub(r"\{[^{}]*\}", "{}", prefix + getattr(route, "path", ""))
    return {(method, path) for method in getattr(route, "methods", None) or ()}

"""The application: opens a project while the server runs, and hangs up and describes routes.

The entrance asks for a header that no route declares; who reads the description must find it.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import Depends, FastAPI

from callboard import __version__
from callboard.api import failure
from callboard.api.bodies import PATIENCE, Bodies, Capacity, Patience
from callboard.api.entrance import CHANGE_HEADER, READING_METHODS, Entrance
from callboard.api.failure import ErrorBody
from callboard.api.pack_routes import OnDemand, PackRoutes
from callboard.api.project import refuse_others
from callboard.api.routes import ROUTERS
from callboard.studio.opening import Opening
from callboard.studio.packs import installed_packs
from callboard.studio.studio import Studio

_OPERATIONS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})


class DescribedApi(FastAPI):
    """An application whose description names the header for changes and the form of errors."""

    needs_change_header: bool = True

    def openapi(self) -> dict[str, Any]:
        """Return the description; it is made once."""
        before = self.openapi_schema
        schema = super().openapi()
        if schema is not before:
            self._name_header(schema)
            _describe_errors(schema)
        return schema

    def warm_up(self) -> None:
        """Have the routes made ready, which the first requests would wait for otherwise."""
        nowhere: dict[str, Any] = {"type": "http", "method": "GET", "path": "/-", "root_path": ""}
        for route in self.routes:
            route.matches({**nowhere, "headers": [], "app": self})

    def _name_header(self, schema: dict[str, Any]) -> None:
        header: dict[str, Any] = {
            "name": CHANGE_HEADER,
            "in": "header",
            "required": self.needs_change_header,
            "description": "Any text; keeps web pages of others from changing anything here."
            " Not needed by who shows the token.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 100, "example": "1"},
        }
        for method, operation in _operations(schema):
            if method.upper() not in READING_METHODS:
                operation.setdefault("parameters", []).append(header)


def _describe_errors(schema: dict[str, Any]) -> None:
    shape = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schema["components"]["schemas"].update(shape.pop("$defs"), ErrorBody=shape)


def _operations(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (method, operation)
        for item in schema["paths"].values()
        for method, operation in item.items()
        if method in _OPERATIONS
    ]


def create_app(
    root: Path,
    opening: Opening | None = None,
    *,
    token: str | None = None,
    patience: Patience = PATIENCE,
) -> DescribedApi:
    """Return the application for one project; the project is opened when the server starts."""
    given = opening.packs if opening is not None else ()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Studio.open(root, opening) as studio, routes.opened(studio):
            app.state.studio = studio
            for pack in (*given, *studio.repertoire.used()):
                await routes.hang_up(pack)
            yield

    app = DescribedApi(
        title="Callboard",
        version=__version__,
        description="Runs teams of LLM agents: durable, inspectable, on your own folder.",
        lifespan=lifespan,
        # Hung up among the routes: making it would hold everything up for a second.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.needs_change_header = token is None
    routes = app.state.pack_routes = PackRoutes(app, (*given, *installed_packs()))
    # The last one added is the first a request meets: strangers are sent away before anything of
    # theirs is counted or read.
    app.add_middleware(OnDemand, routes=routes)
    app.add_middleware(Bodies, patience=patience, larger=routes.body_limits())
    app.add_middleware(Capacity)
    app.add_middleware(Entrance, token=token, patience=patience)
    failure.install(app)
    for router in ROUTERS:
        app.include_router(
            router,
            prefix="/api",
            responses=failure.ERRORS,
            dependencies=[Depends(refuse_others)],
        )
    return app

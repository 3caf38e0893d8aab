"""The application: opens a project for as long as the server runs, and hangs up the routes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from callboard import __version__
from callboard.api import failure
from callboard.api.bodies import Bodies
from callboard.api.capacity import Capacity
from callboard.api.description import DescribedApi
from callboard.api.entrance import Entrance
from callboard.api.pack_routes import OnDemand, PackRoutes
from callboard.api.patience import PATIENCE, Patience
from callboard.api.routes import ROUTERS
from callboard.studio.packs import installed_packs
from callboard.studio.studio import Opening, Studio


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
        app.include_router(router, prefix="/api", responses=failure.ERRORS)
    return app

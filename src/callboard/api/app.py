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
from callboard.api.patience import PATIENCE, Patience
from callboard.api.routes import ROUTERS
from callboard.packs.alfred.house import Alfred
from callboard.packs.control_room.house import House
from callboard.packs.writers_factory.factory import Factory
from callboard.studio.studio import Opening, Studio


def create_app(
    root: Path,
    opening: Opening | None = None,
    *,
    token: str | None = None,
    patience: Patience = PATIENCE,
) -> DescribedApi:
    """Return the application for one project; the project is opened when the server starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Studio.open(root, opening) as studio:
            house, factory = House(studio), Factory(studio)
            app.state.studio, app.state.house, app.state.factory = studio, house, factory
            app.state.alfred = Alfred(studio)
            await house.take_up()
            if factory.is_used:
                factory.clock.start()
            try:
                yield
            finally:
                await factory.clock.stop()
                await house.close()

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
    # The last one added is the first a request meets: strangers are sent away before anything of
    # theirs is counted or read.
    app.add_middleware(Bodies, patience=patience)
    app.add_middleware(Capacity)
    app.add_middleware(Entrance, token=token, patience=patience)
    failure.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix="/api", responses=failure.ERRORS)
    return app

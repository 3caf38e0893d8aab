"""The application: opens a project for as long as the server runs, and hangs up the routes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from callboard import __version__
from callboard.api import failure
from callboard.api.entrance import Entrance
from callboard.api.routes import ROUTERS
from callboard.packs.alfred.house import Alfred
from callboard.packs.control_room.house import House
from callboard.packs.writers_factory.factory import Factory
from callboard.studio.studio import Opening, Studio


def create_app(root: Path, opening: Opening | None = None, *, token: str | None = None) -> FastAPI:
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

    app = FastAPI(
        title="Callboard",
        version=__version__,
        description="Runs teams of LLM agents: durable, inspectable, on your own folder.",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(Entrance, token=token)
    failure.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix="/api", responses=failure.ERRORS)
    return app

"""Health, everything that happens, and who is on the staff."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse

from callboard import __version__
from callboard.api.project import Asking, OpenStudio, Shown
from callboard.api.streaming import STREAM, resume_point, stream_project
from callboard.choreography.staffing import staff_now
from callboard.tools import off_loop

router = APIRouter(tags=["system"])


class Health(Shown):
    """That the server is there."""

    status: str
    version: str


@router.get("/health")
async def health() -> Health:
    """Say that the server is there."""
    return Health(status="ok", version=__version__)


@router.get("/openapi.json", include_in_schema=False)
async def describe(request: Request) -> JSONResponse:
    """Return the machine-readable description; it takes a moment to make, once."""
    return JSONResponse(await off_loop(request.app.openapi))


@router.get("/events", response_class=StreamingResponse, responses=STREAM)
async def events(
    studio: OpenStudio,
    request: Request,
    viewer: Asking,
    session_id: Annotated[str | None, Query(description="Only of this session.")] = None,
    after: Annotated[int, Query(ge=0, le=2**53, description="Only later than this number.")] = 0,
) -> StreamingResponse:
    """Stream what happens, from a point on; a browser that comes back misses nothing."""
    return stream_project(studio, viewer, session_id, resume_point(request, after))


agents_router = APIRouter(prefix="/agents", tags=["agents"])


class AgentShape(Shown):
    """One agent with its contract, its model and what its card shows."""

    id: str
    name: str
    archetype: str
    tier: str
    model: str
    order: int
    state: str


@agents_router.get("")
async def list_agents(studio: OpenStudio) -> list[AgentShape]:
    """List the enabled staff in order."""
    return [AgentShape.model_validate(each) for each in staff_now(studio)]

"""Sessions: isolated lines of work."""

from dataclasses import asdict

from fastapi import APIRouter
from pydantic import Field

from callboard.api.paging import Paged
from callboard.api.project import OpenStudio, Shown, Wanted
from callboard.core.vocabulary import SessionRecord, SessionState

router = APIRouter(prefix="/sessions", tags=["sessions"])


class SessionShape(Shown):
    """One session."""

    id: str
    name: str
    state: SessionState


class NewSession(Wanted):
    """A session to be begun."""

    name: str = Field(default="", max_length=200)


@router.get("")
async def list_sessions(
    studio: OpenStudio, page: Paged, state: SessionState | None = None
) -> list[SessionShape]:
    """List sessions."""
    return [_shape(each) for each in page.cut(studio.sessions.list(state))]


@router.post("", status_code=201)
async def create_session(studio: OpenStudio, wanted: NewSession) -> SessionShape:
    """Begin a session."""
    return _shape(await studio.sessions.create(wanted.name))


@router.get("/{session_id}")
async def show_session(studio: OpenStudio, session_id: str) -> SessionShape:
    """Show a session."""
    return _shape(studio.sessions.get(session_id))


def _shape(session: SessionRecord) -> SessionShape:
    return SessionShape.model_validate({**asdict(session), "state": session.state.value})

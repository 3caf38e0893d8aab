"""Conferences: everybody looks at the same evidence and says what it thinks."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, Wanted
from callboard.operations import Operations
from callboard.packs.control_room.conferences import operations
from callboard.packs.control_room.room import find
from callboard.packs.control_room.routes import OpenRoom, PolicyWanted

router = APIRouter(prefix="/conferences", tags=["conferences"])

Message = Annotated[str, Field(min_length=1, max_length=100_000)]


class ConferenceWanted(Wanted):
    """Who confers; nobody named means everybody."""

    agents: list[str] = Field(default_factory=list[str])
    tool_policy: PolicyWanted = Field(default_factory=PolicyWanted)
    session_id: str | None = None


class RoundWanted(Wanted):
    """A message for everybody."""

    message: Message


class AskAgainWanted(Wanted):
    """Whose reply is wanted anew."""

    agent_id: str = Field(min_length=1)


class ConferenceShape(Shown):
    """A conference with its rounds."""

    conference_id: str
    session_id: str
    agents: list[str]
    tool_policy: Entry
    rounds: list[Entry]


class StartedRound(Shown):
    """A round that has begun; its events are those of its run."""

    conference_id: str
    round_id: str
    run_id: str
    status: str


@router.get("")
async def list_conferences(
    room: OpenRoom, page: Paged, session_id: str | None = None
) -> list[ConferenceShape]:
    """List conferences, newest first."""
    found = page.cut(room.conferences.list(session_id))
    return [ConferenceShape.model_validate(each.to_json()) for each in found]


@router.post("", status_code=201)
async def open_conference(room: OpenRoom, wanted: ConferenceWanted) -> ConferenceShape:
    """Open a conference; rounds are held in it one after the other."""
    sessions, policy = room.studio.sessions, wanted.tool_policy.policy()
    session = sessions.get(wanted.session_id) if wanted.session_id else await sessions.current()
    opened = await Operations(room.studio, room.pack, find).perform_in(
        session.id, operations.open_conference, wanted.agents, policy, session.id
    )
    return ConferenceShape.model_validate(room.conferences.get(opened).to_json())


@router.get("/{conference_id}")
async def show_conference(room: OpenRoom, conference_id: str) -> ConferenceShape:
    """Show a conference with everything said in it."""
    return ConferenceShape.model_validate(room.conferences.get(conference_id).to_json())


@router.get("/{conference_id}/rounds")
async def list_rounds(room: OpenRoom, conference_id: str, page: Paged) -> list[Entry]:
    """List the rounds of a conference in order."""
    return [each.to_json() for each in page.cut(room.conferences.get(conference_id).rounds)]


@router.post("/{conference_id}/rounds", status_code=201)
async def hold_round(room: OpenRoom, conference_id: str, wanted: RoundWanted) -> StartedRound:
    """Put a message to everybody; follow the round through the events of its run."""
    run = await room.conferences.hold_round(wanted.message, conference_id=conference_id)
    return StartedRound(
        conference_id=conference_id, round_id=run.id, run_id=run.id, status="running"
    )


@router.get("/{conference_id}/rounds/{round_id}")
async def show_round(room: OpenRoom, conference_id: str, round_id: str) -> Entry:
    """Show one round."""
    room.conferences.get(conference_id)
    return room.conferences.round(round_id).to_json()


@router.post("/{conference_id}/rounds/{round_id}/ask-again", status_code=201)
async def ask_again(
    room: OpenRoom, conference_id: str, round_id: str, wanted: AskAgainWanted
) -> StartedRound:
    """Ask an agent again whose reply was rejected or missing."""
    room.conferences.get(conference_id)
    run = await room.conferences.ask_again(round_id, wanted.agent_id)
    return StartedRound(
        conference_id=conference_id, round_id=round_id, run_id=run.id, status="running"
    )

"""Chat: one agent, one message, one answer; the conversation is kept per session."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, Wanted
from callboard.packs.control_room.conferences.routes import PolicyWanted
from callboard.packs.control_room.request import ControlRoom

router = APIRouter(prefix="/ai/chat", tags=["chat"])


class MessageWanted(Wanted):
    """Something to say to an agent."""

    agent_id: str = Field(min_length=1)
    message: str = Field(min_length=1, max_length=100_000)
    skip_tools: bool = Field(default=False, alias="skipTools")
    tool_policy: PolicyWanted | None = Field(default=None, alias="toolPolicy")
    session_id: str | None = None

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Answer(Shown):
    """What the agent answered."""

    run_id: str
    agent_id: str
    text: str


@router.post("")
async def say(house: ControlRoom, wanted: MessageWanted) -> Answer:
    """Say something to an agent and wait for its answer."""
    policy = wanted.tool_policy.policy() if wanted.tool_policy is not None else None
    answered = await house.chat(
        wanted.agent_id,
        wanted.message,
        skip_tools=wanted.skip_tools,
        policy=policy,
        session_id=wanted.session_id,
    )
    return Answer.model_validate(answered)


@router.get("")
async def read(
    studio: OpenStudio,
    house: ControlRoom,
    page: Paged,
    agent_id: Annotated[str, Query(min_length=1)],
    session_id: str | None = None,
) -> list[Entry]:
    """Read what was said with an agent, oldest first."""
    session = studio.sessions.get(session_id) if session_id else await studio.sessions.current()
    return [each.to_json() for each in page.cut(house.conversation(agent_id, session.id))]

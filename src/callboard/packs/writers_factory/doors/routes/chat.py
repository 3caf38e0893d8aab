"""The conversation with the Foreman: one message, one durable run, one answer."""

from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Response
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, StartedJob, Wanted, started
from callboard.core.clock import iso
from callboard.core.vocabulary import RunState
from callboard.packs.writers_factory.doors.routes.request import (
    ModelName,
    SessionId,
    Text,
    WritersFactory,
)
from callboard.packs.writers_factory.foreman.foreman import PastTurn

router = APIRouter(prefix="/factory/chat", tags=["factory: chat"])


class MessageWanted(Wanted):
    """Something to say to the Foreman; `active` is what the writer has open."""

    message: Text
    model: ModelName | None = None
    active: dict[str, str] | None = Field(default=None, max_length=20)
    session_id: SessionId = None
    wait: bool = Field(default=True, description="Wait for the answer instead of naming the run.")


class TurnShape(Shown):
    """What the Foreman answered, and what came of it."""

    run_id: str
    session_id: str
    message: str
    thinking: str | None
    actions: list[Entry]
    content_updates: list[Entry]
    notices: list[str]
    mode: str
    model: str
    tier: str
    prompt_ids: list[str]


class Spoken(Shown):
    """A turn of the conversation as it was."""

    run_id: str
    said: str
    message: str
    created_at: str


@router.post("", responses={202: {"model": StartedJob, "description": "The run that answers."}})
async def say(
    factory: WritersFactory, response: Response, wanted: MessageWanted
) -> TurnShape | StartedJob:
    """Say something to the Foreman and wait for its answer, or follow the run that answers."""
    args = wanted.model_dump(include={"message", "model", "active"}, exclude_none=True)
    run = await factory.start("chat", args, session_id=wanted.session_id)
    if wanted.wait:
        ended = await factory.studio.engine.wait(run.id, settled=True)
        if ended.state is not RunState.WAITING:
            told = cast("dict[str, Any]", await factory.answer(run))
            turn = {**told, "run_id": run.id, "session_id": run.session_id}
            return TurnShape.model_validate(turn)
    # A run that waits for the writer has no answer yet.
    response.status_code = 202
    return started(factory.studio.engine.load(run.id))


@router.get("")
async def read(
    studio: OpenStudio,
    factory: WritersFactory,
    page: Paged,
    session_id: Annotated[str | None, Query(max_length=200)] = None,
) -> list[Spoken]:
    """Read what was said in a session, oldest first; whichever models answered."""
    session = studio.sessions.get(session_id) if session_id else await studio.sessions.current()
    return [_spoken(each) for each in page.cut(factory.foreman.conversation(session.id))]


def _spoken(exchange: PastTurn) -> Spoken:
    told = {name: value for name, value in exchange.result.items() if name != "rounds"}
    return Spoken.model_validate(
        {
            **told,
            "run_id": exchange.run_id,
            "said": exchange.message,
            "created_at": iso(exchange.created_at),
        }
    )

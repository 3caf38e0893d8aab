"""Talking with Alfred: sessions, messages, and what is remembered of them.

Progress is streamed by `/api/events?session_id=…`: nodes, steps and parts of the reply.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from callboard.api.project import Entry, OpenStudio, Paged, Shown, Wanted
from callboard.choreography.turn.message import Utterance
from callboard.choreography.turn.modes import find_mode
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.core.clock import iso
from callboard.core.errors import InvalidInput
from callboard.operations.runtime import begin_session
from callboard.packs.alfred.project import KitchenProject, project_of

router = APIRouter(prefix="/alfred", tags=["alfred: talk"])


async def _of_request(studio: OpenStudio) -> KitchenProject:
    return project_of(studio)


AlfredKitchen = Annotated[KitchenProject, Depends(_of_request)]
UserId = Annotated[
    str | None, Query(max_length=100, description="Who; if not said, whom the settings name.")
]
SessionId = Annotated[str, Path(max_length=100)]
Person = Annotated[str | None, Field(max_length=100)]
Mode = Annotated[str | None, Field(max_length=40)]


class ConversationWanted(Wanted):
    """A conversation to begin: whose, and in which mode."""

    user_id: Person = None
    mode: Mode = None
    name: Annotated[str | None, Field(max_length=100)] = None


@dataclass(frozen=True, slots=True)
class AlfredMessageWanted(Utterance):
    """Something to say; the same client id again is the same message."""

    user_id: Person = None


class ModeWanted(Wanted):
    """A mode to go on in; `auto` leaves it to each message."""

    mode: str = Field(min_length=1, max_length=40)
    user_id: Person = None


class PersonWanted(Wanted):
    """Whose conversation it is."""

    user_id: Person = None


class ConversationShape(Shown):
    """A conversation that has begun."""

    session_id: str
    user_id: str
    mode: str | None
    modes: list[Entry]


class StandingShape(Shown):
    """Where a conversation stands."""

    mode: str | None
    pending_clarification: Entry | None
    pending_proposal: Entry | None
    drafts: list[Entry]
    constraints: list[str]


class TimerShape(Shown):
    """A timer at the stove; `is_up` stays true, `has_rung` says that the cook was told."""

    seconds: int
    step: int
    ends_at: str
    is_up: bool
    has_rung: bool


class CookingShape(Shown):
    """What is being cooked; `step` 0 is before the first."""

    recipe_id: str
    name: str
    servings: float | None
    step: int
    steps: list[str]
    timers: list[TimerShape]


@router.get("/modes")
async def list_modes(alfred: AlfredKitchen) -> list[Entry]:
    """List the modes one can choose from."""
    return [asdict(mode) for mode in alfred.kitchen.modes()]


@router.post("/sessions", status_code=201)
async def open_conversation(
    alfred: AlfredKitchen, studio: OpenStudio, wanted: ConversationWanted
) -> ConversationShape:
    """Begin a conversation of its own."""
    who = alfred.who(wanted.user_id)
    if wanted.mode not in (None, "auto"):
        find_mode(alfred.kitchen.modes(), str(wanted.mode))
    session = await begin_session(studio, wanted.name or f"Alfred and {who.user_id}")
    modes = [asdict(mode) for mode in alfred.kitchen.modes()]
    return ConversationShape(
        session_id=session.id, user_id=who.user_id, mode=wanted.mode, modes=modes
    )


@router.post("/sessions/{session_id}/messages")
async def say(
    alfred: AlfredKitchen, studio: OpenStudio, session_id: SessionId, wanted: AlfredMessageWanted
) -> TurnOutcome:
    """Say something and wait for the answer; a second message meanwhile is refused (409)."""
    session = studio.sessions.get(session_id)
    if not wanted.message and wanted.gesture is None:
        raise InvalidInput("There is nothing to say", fix="Send a message or a gesture.")
    return await alfred.send(
        wanted.message,
        session_id=session.id,
        user_id=wanted.user_id,
        mode=wanted.mode,
        client_message_id=wanted.client_message_id,
        gesture=wanted.gesture,
    )


@router.get("/sessions/{session_id}/standing")
async def show_standing(
    alfred: AlfredKitchen, session_id: SessionId, user_id: UserId = None
) -> StandingShape:
    """Tell the mode, the drafts, and what waits for the user's word."""
    standing = alfred.talk.standing(alfred.theirs(session_id, user_id))
    asked, proposal = standing.clarification, standing.proposal
    return StandingShape(
        mode=standing.mode,
        pending_clarification=None if asked is None else asked.model_dump(mode="json"),
        pending_proposal=None if proposal is None else proposal.model_dump(mode="json"),
        drafts=[asdict(each) for each in standing.drafts],
        constraints=list(standing.constraints),
    )


@router.put("/sessions/{session_id}/mode")
async def choose_mode(
    alfred: AlfredKitchen, studio: OpenStudio, session_id: SessionId, wanted: ModeWanted
) -> Entry:
    """Go on in another mode; nothing is said, and no turn is made."""
    session = studio.sessions.get(session_id)
    who = alfred.who(wanted.user_id, session.id)
    return {"mode": await alfred.talk.choose_mode(session.id, who, wanted.mode)}


@router.get("/sessions/{session_id}/entities")
async def list_entities(
    alfred: AlfredKitchen, session_id: SessionId, page: Paged, user_id: UserId = None
) -> list[Entry]:
    """List what a conversation is about, put away or not."""
    found = alfred.theirs(session_id, user_id)
    return [asdict(each) for each in page.cut(alfred.talk.entities(found))]


@router.get("/sessions/{session_id}/cooking")
async def show_cooking(
    alfred: AlfredKitchen, studio: OpenStudio, session_id: SessionId, user_id: UserId = None
) -> CookingShape | None:
    """Show what is on the stove in a conversation, with its timers; null if nothing is."""
    cooking = alfred.cooking(alfred.theirs(session_id, user_id))
    if cooking is None:
        return None
    now_ms = studio.clock.now_ms()
    timers = [
        TimerShape(
            seconds=each["seconds"],
            step=each["step"],
            ends_at=iso(each["ends_ms"]),
            is_up=each["ends_ms"] <= now_ms,
            has_rung=bool(each.get("has_rung")),
        )
        for each in cooking.timers
    ]
    return CookingShape(
        recipe_id=cooking.recipe_id,
        name=cooking.name,
        servings=cooking.servings,
        step=cooking.position,
        steps=[str(each["text"]) for each in cooking.steps],
        timers=timers,
    )


@router.get("/sessions/{session_id}/turns")
async def list_turns(
    alfred: AlfredKitchen, session_id: SessionId, page: Paged, user_id: UserId = None
) -> list[Entry]:
    """List what was said, oldest first."""
    return page.cut(alfred.talk.turns(alfred.theirs(session_id, user_id)))


@router.get("/sessions/{session_id}/trace/{turn}")
async def trace(
    alfred: AlfredKitchen, session_id: SessionId, turn: int, user_id: UserId = None
) -> Entry:
    """Tell why a turn did what it did: plan, steps, assumptions, calls, states."""
    return alfred.talk.trace(alfred.theirs(session_id, user_id), turn)


@router.post("/sessions/{session_id}/undo")
async def undo(
    alfred: AlfredKitchen, studio: OpenStudio, session_id: SessionId, wanted: PersonWanted
) -> TurnOutcome:
    """Take back what the last turn that wrote has changed."""
    session = studio.sessions.get(session_id)
    return await alfred.talk.undo(session.id, alfred.who(wanted.user_id, session.id))


@router.post("/sessions/{session_id}/end")
async def end(
    alfred: AlfredKitchen, studio: OpenStudio, session_id: SessionId, wanted: PersonWanted
) -> Entry:
    """End a conversation; it is summed up, and what was open is dropped."""
    session = studio.sessions.get(session_id)
    ended: dict[str, Any] = await alfred.talk.end(
        session.id, alfred.who(wanted.user_id, session.id)
    )
    return ended

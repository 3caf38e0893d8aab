"""The people who cook: the household, what is known of each, and the questions asked once."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from callboard.api.project import AlfredKitchen, Entry, Wanted
from callboard.choreography.turn.requests import WritePreview, WriteResult

router = APIRouter(prefix="/alfred", tags=["alfred: people"])

UserId = Annotated[str | None, Query(max_length=100)]


class PersonWanted(Wanted):
    """Somebody who joins the household."""

    user_id: str = Field(min_length=1, max_length=100)
    name: str = Field(default="", max_length=200)
    timezone: str = Field(default="UTC", max_length=60)


class ProfileWanted(Wanted):
    """What is known about somebody; what is not named stays."""

    values: dict[str, Any]
    confirmed: WritePreview | None = None


class AnswerWanted(Wanted):
    """The answer to a question that is asked once; None skips it."""

    question: str = Field(min_length=1, max_length=60)
    answer: str | None = Field(default=None, max_length=500)


@router.get("/people")
async def list_people(alfred: AlfredKitchen) -> list[Entry]:
    """List who cooks here."""
    return [dict(each) for each in alfred.people()]


@router.post("/people", status_code=201)
async def add_person(alfred: AlfredKitchen, wanted: PersonWanted) -> Entry:
    """Give somebody a place in the household."""
    is_new = await alfred.add_person(wanted.user_id, wanted.name, wanted.timezone)
    return {"user_id": wanted.user_id, "is_new": is_new}


@router.get("/profile")
async def read_profile(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Return what is known about somebody."""
    return dict(await alfred.profile(alfred.who(user_id)))


@router.put("/profile")
async def set_profile(
    alfred: AlfredKitchen, wanted: ProfileWanted, user_id: UserId = None
) -> WriteResult:
    """Change what is known; dropping an allergy or a diet needs the preview of it."""
    values: Mapping[str, Any] = wanted.values
    return await alfred.set_profile(alfred.who(user_id), values, wanted.confirmed)


@router.get("/onboarding")
async def next_questions(alfred: AlfredKitchen, user_id: UserId = None) -> Entry:
    """Return what has not been asked yet."""
    return dict(await alfred.onboarding(alfred.who(user_id)))


@router.post("/onboarding")
async def answer_question(
    alfred: AlfredKitchen, wanted: AnswerWanted, user_id: UserId = None
) -> Entry:
    """Answer one question, or skip it."""
    who = alfred.who(user_id)
    return dict(await alfred.answer_onboarding(who, wanted.question, wanted.answer))

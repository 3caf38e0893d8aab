"""The people who cook: the household, what is known of each, and the questions asked once."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, Shown, Wanted
from callboard.choreography.turn.requests import WritePreview, WriteResult
from callboard.packs.alfred.kitchen.profile import Onboarding
from callboard.packs.alfred.kitchen.profile.onboarding import SKIP
from callboard.packs.alfred.request import AlfredKitchen
from callboard.packs.alfred.routes.request_fields import UserId

router = APIRouter(prefix="/alfred", tags=["alfred: people"])


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


class Asked(Shown):
    """How far somebody is with the questions that are asked once."""

    open: list[Entry]
    answered: dict[str, str]


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
async def next_questions(alfred: AlfredKitchen, user_id: UserId = None) -> Asked:
    """Return what is asked once and has not been answered yet, and what was answered."""
    return _told(await alfred.onboarding(alfred.who(user_id)))


@router.post("/onboarding")
async def answer_question(
    alfred: AlfredKitchen, wanted: AnswerWanted, user_id: UserId = None
) -> Asked:
    """Answer one question, or skip it."""
    answer = SKIP if wanted.answer is None else wanted.answer
    return _told(await alfred.answer_onboarding(alfred.who(user_id), wanted.question, answer))


def _told(state: Onboarding) -> Asked:
    return Asked(open=[asdict(each) for each in state.open], answered=dict(state.answers))

"""The open project behind the server, as routes ask for it.

Asynchronous, though nothing is waited for: a plain function would be called in a thread, and no
request may have to wait for one of those just to be looked at.
"""

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict

from callboard.packs.alfred.house import Alfred
from callboard.packs.control_room.house import House
from callboard.packs.writers_factory.factory import Factory
from callboard.studio.studio import Studio


async def studio_of(request: Request) -> Studio:
    """Return the open project of the server."""
    return request.app.state.studio


async def house_of(request: Request) -> House:
    """Return the Control Room of the open project."""
    return request.app.state.house


async def factory_of(request: Request) -> Factory:
    """Return the Writers Factory of the open project."""
    return request.app.state.factory


async def alfred_of(request: Request) -> Alfred:
    """Return the kitchen of the open project; it is opened when it is first needed."""
    return request.app.state.alfred


OpenStudio = Annotated[Studio, Depends(studio_of)]
ControlRoom = Annotated[House, Depends(house_of)]
WritersFactory = Annotated[Factory, Depends(factory_of)]
AlfredKitchen = Annotated[Alfred, Depends(alfred_of)]


class Wanted(BaseModel):
    """Base of request bodies: a key that means nothing is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid")


class Shown(BaseModel):
    """Base of answers: what is named here is promised, more may be there."""

    model_config = ConfigDict(extra="allow")


Entry = dict[str, Any]

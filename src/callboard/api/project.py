"""The open project behind the server, as routes ask for it.

Asynchronous, though nothing is waited for: a plain function would be called in a thread, and no
request may have to wait for one of those just to be looked at.
"""

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict

from callboard.studio.studio import Studio


async def studio_of(request: Request) -> Studio:
    """Return the open project of the server."""
    return request.app.state.studio


OpenStudio = Annotated[Studio, Depends(studio_of)]


class Wanted(BaseModel):
    """Base of request bodies: a key that means nothing is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid")


class Shown(BaseModel):
    """Base of answers: what is named here is promised, more may be there."""

    model_config = ConfigDict(extra="allow")


Entry = dict[str, Any]

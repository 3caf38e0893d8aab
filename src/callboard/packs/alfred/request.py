"""The kitchen behind a request, as routes ask for it."""

from typing import Annotated

from fastapi import Depends

from callboard.api.project import OpenStudio
from callboard.packs.alfred.house import Alfred, alfred_of


async def _of_request(studio: OpenStudio) -> Alfred:
    return alfred_of(studio)


AlfredKitchen = Annotated[Alfred, Depends(_of_request)]

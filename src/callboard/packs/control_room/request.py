"""The Control Room behind a request, as routes ask for it."""

from typing import Annotated

from fastapi import Depends

from callboard.api.project import OpenStudio
from callboard.packs.control_room.house import House, house_of


async def _of_request(studio: OpenStudio) -> House:
    return house_of(studio)


ControlRoom = Annotated[House, Depends(_of_request)]

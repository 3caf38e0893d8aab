"""The book behind a request, as routes ask for it."""

from typing import Annotated

from fastapi import Depends

from callboard.api.project import OpenStudio
from callboard.packs.writers_factory.factory import Factory, factory_of


async def _of_request(studio: OpenStudio) -> Factory:
    return factory_of(studio)


WritersFactory = Annotated[Factory, Depends(_of_request)]

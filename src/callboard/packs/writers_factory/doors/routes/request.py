"""A request as routes read it: the book behind it, and how much of each text is taken."""

from typing import Annotated

from fastapi import Depends, Path
from pydantic import Field

from callboard.api.project import OpenStudio
from callboard.packs.writers_factory.factory import Factory, factory_of

SceneId = Annotated[
    str, Path(max_length=40, description="A scene, such as `ch4-sc2`.", examples=["ch4-sc2"])
]
Name = Annotated[str, Field(min_length=1, max_length=200)]
# The id of a model may hold the paths of files.
ModelName = Annotated[str, Field(min_length=1, max_length=2_000)]
Text = Annotated[str, Field(min_length=1, max_length=200_000)]
Prose = Annotated[str, Field(max_length=500_000)]
Note = Annotated[str, Field(max_length=5_000)]
SessionId = Annotated[str | None, Field(max_length=200)]
Number = Annotated[int, Field(ge=1, le=9_999)]


async def _of_request(studio: OpenStudio) -> Factory:
    return factory_of(studio)


WritersFactory = Annotated[Factory, Depends(_of_request)]

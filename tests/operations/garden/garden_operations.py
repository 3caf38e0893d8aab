"""What can be done in the garden."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from callboard.core.errors import NotFound
from callboard.operations import AGENT, USER, Does, operation


@dataclass(frozen=True, slots=True)
class Bed:
    """A bed, and what grows in it."""

    name: str
    plants: tuple[str, ...]


class Garden:
    """The beds of one project."""

    def __init__(self) -> None:
        """Begin with bare soil."""
        self.beds: dict[str, Bed] = {"north": Bed("north", ())}


Plant = Annotated[str, Field(min_length=1, max_length=20)]


async def _would_plant(garden: Garden, bed: str, plant: str, times: int) -> str:
    return f"{times} x {plant} in {bed}, which has {len(garden.beds[bed].plants)}"


@operation(
    who=(USER, AGENT),
    modes=("SPRING",),
    post="/beds/{bed}/plants",
    command="plant",
    status=201,
    preview=_would_plant,
    undo="clear",
    tell=lambda bed: f"{bed.name}: {', '.join(bed.plants)}",
)
async def plant(garden: Garden, bed: str, plant: Plant, times: int = 1) -> Bed:
    """Put a plant into a bed."""
    if bed not in garden.beds:
        raise NotFound(f"There is no bed {bed!r}", fix="Beds: north.")
    grown = Bed(bed, (*garden.beds[bed].plants, *(plant,) * times))
    garden.beds[bed] = grown
    return grown


@operation(put="/beds/{bed}", command="clear", does=Does.ONCE)
async def clear(garden: Garden, bed: str, season: Literal["autumn", "winter"] = "autumn") -> str:
    """Take everything out of a bed."""
    garden.beds[bed] = Bed(bed, ())
    return season


@operation(does=Does.READS, get="/beds", command="beds", tell=lambda beds: f"{len(beds)} beds")
async def beds(garden: Garden, only: str = "") -> list[Bed]:
    """List the beds."""
    return [bed for bed in garden.beds.values() if not only or bed.name == only]

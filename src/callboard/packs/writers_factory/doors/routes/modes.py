"""Modes: where the book stands, which gates are open, and the writer's way through them."""

from fastapi import APIRouter
from pydantic import Field

from callboard.api.project import Entry, Shown, Wanted
from callboard.packs.writers_factory.doors.routes.request import (
    Name,
    Note,
    WritersFactory,
)
from callboard.packs.writers_factory.modes import Modes, operations

router = APIRouter(prefix="/factory/mode", tags=["factory: modes"])


class GateShape(Shown):
    """What stands before a mode."""

    mode: str
    is_open: bool
    unmet: list[str]
    overridden: list[str]


class ModeShape(Shown):
    """Where the book stands."""

    mode: str
    next_mode: str | None
    completion_pct: int
    is_complete: bool
    unlocked: list[str]
    gates: list[GateShape]
    overrides: list[Entry]
    history: list[Entry]


class MoveWanted(Wanted):
    """Where the book is to go: on, or back to an earlier mode."""

    to: Name
    override: bool = Field(
        default=False, description="Insist, once everything missing was told by a refusal."
    )
    risk_note: Note = ""


class WaiverWanted(Wanted):
    """The one template the writer goes on without."""

    template: Name
    risk_note: Note = ""


class MoveShape(ModeShape):
    """A move that was made, and where the book stands now."""

    moved: Entry


@router.get("")
async def show_mode(factory: WritersFactory) -> ModeShape:
    """Show the mode, every gate with what it misses, and what was overridden."""
    return ModeShape.model_validate(_shape(factory.rooms.modes))


@router.post("")
async def move(factory: WritersFactory, wanted: MoveWanted) -> MoveShape:
    """Move the book; a gate that is not met refuses with everything `unmet`."""
    modes = factory.rooms.modes
    move_to = operations.override_gate if wanted.override else operations.move_book
    moved = await factory.perform(move_to, wanted.to, wanted.risk_note)
    return MoveShape.model_validate({**_shape(modes), "moved": moved.to_json()})


@router.post("/waive")
async def waive(factory: WritersFactory, wanted: WaiverWanted) -> Entry:
    """Go on without one template and nothing else; refused once, with what is missing."""
    made = await factory.perform(operations.waive_template, wanted.template, wanted.risk_note)
    return made.to_json()


def _shape(modes: Modes) -> Entry:
    gates = [modes.gate(mode.id) for mode in modes.table.modes]
    return {
        "mode": modes.current(),
        "next_mode": modes.next_mode(),
        "completion_pct": modes.completion_pct(),
        "is_complete": modes.is_complete(),
        "unlocked": list(modes.unlocked()),
        "gates": [
            {
                "mode": gate.mode,
                "is_open": gate.is_open,
                "unmet": list(gate.unmet),
                "overridden": list(gate.overridden),
            }
            for gate in gates
        ],
        "overrides": [each.to_json() for each in modes.overrides()],
        "history": [dict(each) for each in modes.history()],
    }

"""Moving the book to another mode; a refusal names the command that insists."""

from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.modes import ModeGated, operations
from callboard.packs.writers_factory.modes.gates import Transition


async def move_book(
    factory: Factory, to: str, *, override: bool = False, risk: str = ""
) -> Transition:
    """Move the book by the writer's word."""
    move = operations.override_gate if override else operations.move_book
    try:
        return await factory.perform(move, to, risk)
    except ModeGated as gated:
        mode = str(gated.context["to"])
        insist = f"callboard factory mode {mode} --override --risk NOTE"
        way_out = f"Complete what is named, or insist: {insist}"
        raise ModeGated(mode, gated.unmet, fix=way_out) from gated

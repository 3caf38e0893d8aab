"""Moving the book to another mode; a refusal names the command that insists."""

from callboard.packs.writers_factory.modes import ModeGated, Modes
from callboard.packs.writers_factory.modes.modes import WRITER
from callboard.packs.writers_factory.modes.values import Transition


async def move_book(modes: Modes, to: str, *, override: bool = False, risk: str = "") -> Transition:
    """Move the book by the writer's word."""
    try:
        return await modes.advance(to, by=WRITER, override=override, risk_note=risk)
    except ModeGated as gated:
        mode = str(gated.context["to"])
        insist = f"callboard factory mode {mode} --override --risk NOTE"
        way_out = f"Complete what is named, or insist: {insist}"
        raise ModeGated(mode, gated.unmet, fix=way_out) from gated

"""Permission: which work waits for a later mode.

The writer may do at any time what belongs to a mode the book has reached; agents are bound tighter,
by the mode of the moment.
"""

from collections.abc import Sequence

from callboard.core.errors import Conflict
from callboard.packs.writers_factory.foreman.actions import Catalogue
from callboard.packs.writers_factory.modes import Modes


class WrongMode(Conflict):
    """Something was asked for that belongs to a mode the book has not reached."""

    code = "wrong_mode"


def require_action(catalogue: Catalogue, modes: Modes, action: str) -> None:
    """Refuse the work of an action whose modes all lie ahead."""
    require_mode(modes, catalogue.actions[action].modes or (), action)


def require_mode(modes: Modes, wanted: Sequence[str], what: str) -> None:
    """Refuse work unless the book has reached one of some modes; none named means any."""
    now = modes.spec()
    ahead = sorted((modes.spec(each) for each in wanted), key=lambda mode: mode.order)
    if not ahead or ahead[0].order <= now.order:
        return
    unmet = modes.gate(ahead[0].id).unmet
    asks = f"; its gate still asks for: {'; '.join(unmet)}" if unmet else ""
    raise WrongMode(
        f"{what.replace('_', ' ').capitalize()} belongs to {ahead[0].id}, and the book is in"
        f" {now.id}",
        fix=f"Advance to {ahead[0].id} first{asks}.",
        mode=now.id,
        permitted_in=[mode.id for mode in ahead],
        unmet=list(unmet),
    )

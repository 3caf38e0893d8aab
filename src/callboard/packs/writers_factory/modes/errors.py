"""What can stand between a book and its next mode."""

from callboard.core.errors import Conflict, InvalidInput, NotFound


class ModesInvalid(InvalidInput):
    """The file of modes cannot be used; the message names the file and the key."""

    code = "modes_invalid"


class UnknownMode(NotFound):
    """There is no mode of that name."""

    code = "unknown_mode"


class ModeGated(Conflict):
    """A gate is not met; every unmet item is named."""

    code = "mode_gated"

    def __init__(self, to: str, unmet: tuple[str, ...], *, fix: str) -> None:
        """Take the mode that was asked for and everything that is missing."""
        told = "; ".join(unmet)
        super().__init__(f"{to} is not open yet: {told}", fix=fix, to=to, unmet=list(unmet))
        self.unmet = unmet


class WritersDecision(Conflict):
    """Only the writer may do this; an agent asked for it."""

    code = "writer_only"

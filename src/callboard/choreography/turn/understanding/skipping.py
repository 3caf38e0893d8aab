"""The skip rule: when a message needs no model to be understood."""

import re
from typing import Final

from callboard.choreography.turn.understanding.references import points_somewhere

_TURNING: Final = re.compile(
    r"\b(?:no|not|don't|dont|never|without|instead|actually|rather|except|but|wrong|sorry|again)\b"
)


def needs_model(message: str, *, has_pending: bool, has_open_question: bool) -> bool:
    """Say whether somebody must read a message who understands more than its form."""
    folded = message.casefold().replace("’", "'")
    return (
        has_pending
        or has_open_question
        or points_somewhere(folded)
        or _TURNING.search(folded) is not None
    )

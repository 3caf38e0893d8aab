"""Manners: a greeting, thanks or a call for help is answered in kind. Nothing is looked up."""

import re
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.router.situation import Situation

_HELLO: Final = re.compile(
    r"^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|moin)(?: there| alfred)?$", re.I
)
_THANKS: Final = re.compile(
    r"^(?:many |great,? )?(?:thanks|thank you|thx|cheers)(?: a lot| so much| very much| alfred)?$",
    re.I,
)
_HELP: Final = re.compile(
    r"^(?:help(?: me)?|what can you do(?: for me)?|how does (?:this|it) work|what now)$", re.I
)
_EXAMPLES: Final = (
    "You could say:\n"
    "- add 6 eggs to the shopping list\n"
    "- what's in the fridge?\n"
    "- what can I make with what I have?\n"
    "- make me a weeknight pasta\n"
    "- plan dinners for next week\n"
    "- I'm making shakshuka for 4"
)


async def route_manners(situation: Situation) -> Routed | None:
    """Route what asks for nothing but an answer."""
    text = situation.text
    if _HELLO.match(text):
        return Routed(reply=f"Hello. {_EXAMPLES}")
    if _THANKS.match(text):
        return Routed(reply="You are welcome.")
    return Routed(reply=_EXAMPLES) if _HELP.match(text) else None

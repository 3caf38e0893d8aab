"""Modes: which one a message sounds like. It is only ever told, never imposed."""

import re
from typing import Final

_FORMS: Final = (
    ("cook", re.compile(r"\b(?:i'm|i am|we're|we are) (?:making|cooking|baking|preparing)\b")),
    ("plan", re.compile(
        r"\bplan (?:my|our|the|out|all|dinners?|lunch(?:es)?|breakfasts?|meals?|next|this|a|\d)\b"
        r"|\bmeal plan for\b|\bplan\b.*\b(?:week|month|days)\b"
    )),
    ("create", re.compile(
        r"\b(?:make|create|invent|write|come up with|design)(?: me| us)? an? (?:new )?"
        r".*\b(?:recipe|pasta|soup|curry|salad|dish|bowl|dessert|cake|stew|bake|tacos?)\b"
    )),
    ("explore", re.compile(
        r"\b(?:suggest|ideas?|what (?:can|could|should) (?:i|we) (?:make|cook|eat)|inspire)\b"
    )),
    ("quick", re.compile(
        r"^\s*(?:please )?(?:add|put|buy|get|remove|delete|take|show|list|check|mark|set|update|"
        r"move|what'?s (?:in|on)|do (?:i|we) have|how (?:much|many)|remind|save|keep)\b"
    )),
)  # fmt: skip


# What a message wants stands at its beginning; what follows may be a whole recipe.
_LOOKED_AT: Final = 2_000


def mode_of(message: str) -> str | None:
    """Return the mode a message sounds like, or None if it fits any."""
    folded = message[:_LOOKED_AT].casefold().replace("’", "'")
    return next((mode for mode, form in _FORMS if form.search(folded)), None)

"""Strategies: the ways a passage or a scene can be approached, each a prompt file of its own."""

import re
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Content, ModelTier
from callboard.packs.writers_factory.model import PACK
from callboard.prompts import render_template
from callboard.studio.studio import Studio

ACTION_EMPHASIS: Final = "ACTION_EMPHASIS"
CHARACTER_DEPTH: Final = "CHARACTER_DEPTH"
DIALOGUE_FOCUS: Final = "DIALOGUE_FOCUS"
BALANCED: Final = "BALANCED"
ATMOSPHERIC: Final = "ATMOSPHERIC"
STRATEGIES: Final = (ACTION_EMPHASIS, CHARACTER_DEPTH, DIALOGUE_FOCUS, BALANCED, ATMOSPHERIC)
TOURNAMENT_STRATEGIES: Final = STRATEGIES[:4]

_ALIASES: Final = {
    "ACTION": ACTION_EMPHASIS,
    "CHARACTER": CHARACTER_DEPTH,
    "DIALOGUE": DIALOGUE_FOCUS,
    "DIALOG": DIALOGUE_FOCUS,
    "BALANCE": BALANCED,
    "ATMOSPHERE": ATMOSPHERIC,
}


def canonical_strategy(name: str) -> str:
    """Return the full name of a strategy; short forms and any spelling of it are understood."""
    word = re.sub(r"[^A-Z]+", "_", name.upper()).strip("_")
    found = _ALIASES.get(word, word)
    if found not in STRATEGIES:
        raise InvalidInput(
            f"There is no strategy {name!r}",
            fix=f"Strategies: {', '.join(STRATEGIES)}; short forms: {', '.join(_ALIASES)}.",
            strategy=name,
        )
    return found


def strategy_block(studio: Studio, strategy: str, tier: ModelTier | None = None) -> Content:
    """Return what a strategy asks of whoever writes, as it reads for a tier."""
    name = canonical_strategy(strategy).lower()
    template = studio.prompts(PACK).get(f"strategies/{name}", tier)
    filled = render_template(template, {})
    return Content(filled.text.strip(), filled.origin, filled.trust)

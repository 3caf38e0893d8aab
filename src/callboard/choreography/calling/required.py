"""Whether a message cannot be answered without looking: words decide, no model is asked."""

import re
from collections.abc import Collection
from typing import Final

_PATH: Final = re.compile(r"\S\.(?:md|markdown)\b", re.IGNORECASE)
_VERBS: Final = re.compile(
    r"\b(?:check|find|compar|analy[sz]|verif|look(?:s|ed|ing)? up)\w*", re.IGNORECASE
)
_NOUNS: Final = ("scene", "outline", "canon")


def needs_tool(message: str, tool_ids: Collection[str], names: Collection[str] = ()) -> bool:
    """Say whether a message names a tool or a file, or asks to check something of the project.

    `names` are the entities the project is known to hold.
    """
    words = message.casefold()
    if _PATH.search(message) or any(_stands_in(words, tool_id) for tool_id in tool_ids):
        return True
    if _VERBS.search(message) is None:
        return False
    nouns = (*_NOUNS, *(f"{noun}s" for noun in _NOUNS), *names)
    return any(_stands_in(words, noun.casefold()) for noun in nouns)


def _stands_in(words: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words) is not None

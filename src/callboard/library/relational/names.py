"""Name keys: one spelling for every way to write a name, made in Python on every database."""

import re
from typing import Final

from callboard.core.canonical import composed
from callboard.knowledge.entities.matching import singular_words

_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"\w+")


def name_key(name: str) -> str:
    """Return a name's key: compatibility form, no case, singular words, single spaces.

    A name without a single word keeps its signs, so that an emoji is a name too.
    """
    folded = composed(name).casefold().strip()
    # Word by word: words come again and are remembered, whole names hardly ever.
    words = [one for word in _WORD.findall(folded) for one in singular_words(word)]
    return " ".join(words) or _SPACE.sub(" ", folded)

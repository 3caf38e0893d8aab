"""How much each piece of a conversation has to do with the message at hand: BM25, and recency."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"\w+")
_SATURATION: Final = 1.5
_LENGTH_WEIGHT: Final = 0.75


def words(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _WORD.findall(text.casefold())


def bm25(texts: Sequence[str], query: str) -> list[float]:
    """Return how well each text matches the query; a rare word counts more than a common one."""
    counted = [Counter(words(text)) for text in texts]
    lengths = [count.total() for count in counted]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in dict.fromkeys(words(query)):
        holding = sum(1 for count in counted if word in count)
        if not holding:
            continue
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for index, count in enumerate(counted):
            often = count[word]
            if often:
                damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[index] / average
                gain = often * (_SATURATION + 1) / (often + _SATURATION * damping)
                scores[index] += rarity * gain
    return scores

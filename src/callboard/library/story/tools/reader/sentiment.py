"""Sentiment: whether the words of a scene are rather dark or rather bright, from -1 to 1."""

from collections.abc import Mapping, Sequence
from typing import Final

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.text.document import Document
from callboard.library.story.tools.stems import different_words, weights_of

_NEGATION_REACH_WORDS: Final = 3
# So much neutral weight keeps a scene with two feeling words from being extreme.
_DAMPING: Final = 5.0


def sentiment_of(document: Document) -> float:
    """Weigh the feeling words of a scene against each other."""
    weights = weights_of("valence").among(different_words(document.sentences))
    bright = dark = 0.0
    for sentence in document.sentences:
        brighter, darker = weigh(sentence.words, weights)
        bright += brighter
        dark += darker
    return (bright - dark) / (bright + dark + _DAMPING)


def weigh(words: Sequence[str], weights: Mapping[str, float | str]) -> tuple[float, float]:
    """Return how bright and how dark some words are; a negation turns what follows it."""
    bright = dark = 0.0
    for index, word in enumerate(words):
        if word not in weights:
            continue
        weight = float(weights[word])
        if _is_negated(words, index):
            weight = -weight / 2
        bright += max(weight, 0.0)
        dark += max(-weight, 0.0)
    return bright, dark


def _is_negated(words: Sequence[str], index: int) -> bool:
    before = words[max(0, index - _NEGATION_REACH_WORDS) : index]
    negations = words_in("valence", "negations")
    return any(word in negations or word.endswith("n't") for word in before)

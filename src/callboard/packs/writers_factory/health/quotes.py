"""Quotes: words that are found in a scene as they stand, and the sentences to pick them from."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from callboard.core.words import shorten_at_word
from callboard.library.story.text import Document, words
from callboard.packs.writers_factory.health.view import SceneView, mentions
from callboard.packs.writers_factory.model import Evidence
from callboard.replies.evidence import holds_quote, is_quotable


@lru_cache(maxsize=512)
def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a scene's prose, word for word."""
    document = Document("scene.md", text)
    return tuple(document.quote(sentence).text for sentence in document.sentences)


def evidence_of(scene: SceneView | None, quote: str) -> tuple[Evidence, ...]:
    """Return a quotation as evidence, or nothing if the scene does not hold it."""
    if scene is None or not is_quotable(quote) or not holds_quote(scene.text, quote):
        return ()
    return (Evidence(scene.scene_id, quote),)


def sentence_naming(scene: SceneView, *groups: Sequence[str]) -> str:
    """Return the sentence that names most of the groups of names; nothing if none names the first.

    Earlier groups weigh more than later ones.
    """
    best, best_weight = "", 0
    for sentence in sentences_of(scene.text):
        weight = 0
        for place, names in enumerate(groups):
            weight += (1 << (len(groups) - place)) * mentions(sentence, names)
        if weight > best_weight:
            best, best_weight = sentence, weight
    return best


def sentences_near(text: str, about: str, most: int) -> tuple[str, ...]:
    """Return the sentences that share most words with a text, best first; ties in their order."""
    wanted = content_stems(about)
    quotable = [each for each in dict.fromkeys(sentences_of(text)) if is_quotable(each)]
    ranked = sorted(quotable, key=lambda each: -len(wanted & content_stems(each)))
    return tuple(ranked[:most])


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that mean something."""
    return words.content_stems(text, min_letters=3)


def share_of(wanted: frozenset[str], held: Iterable[str]) -> float:
    """Return which part of the wanted words is there."""
    return len(wanted & frozenset(held)) / len(wanted) if wanted else 0.0


def shortened(text: str, most_chars: int = 90) -> str:
    """Return a text on one line, cut at a word."""
    return shorten_at_word(re.sub(r"\s+", " ", text).strip(), most_chars)

"""Which texts speak most of some words: BM25 over whole bodies, inflections counted in."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from callboard.library.story.text import Document, Sentence, stem

_K1: Final = 1.5
_B: Final = 0.75
_PREFIX: Final = 3


def body_scores(
    documents: Sequence[Document], tokens: Mapping[str, frozenset[str]]
) -> dict[str, float]:
    """Return for each path how much it speaks of the tokens, the best one with 1.0."""
    forms = {token: _forms(documents, words) for token, words in tokens.items()}
    lengths = {each.path: each.word_count for each in documents}
    average = sum(lengths.values()) / max(len(lengths), 1) or 1.0
    scores = dict.fromkeys(lengths, 0.0)
    for words in forms.values():
        counts = {
            each.path: sum(each.word_counts.get(word, 0) for word in words) for each in documents
        }
        holding = sum(count > 0 for count in counts.values())
        rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for path, count in counts.items():
            weight = _K1 * (1 - _B + _B * lengths[path] / average)
            scores[path] += rarity * count * (_K1 + 1) / (count + weight)
    best = max(scores.values(), default=0.0)
    return {path: score / best for path, score in scores.items() if score > 0}


def best_sentence(document: Document, tokens: Mapping[str, frozenset[str]]) -> Sentence | None:
    """Return the sentence that holds most of the tokens, the first of equals."""
    stems = {token: frozenset(map(stem, words)) for token, words in tokens.items()}
    starts = tuple({word[:_PREFIX] for words in tokens.values() for word in words})
    best: tuple[int, Sentence] | None = None
    for sentence in document.sentences:
        said = {stem(word) for word in sentence.words if word.startswith(starts)}
        hits = sum(bool(said & wanted) for wanted in stems.values()) if said else 0
        if hits and (best is None or hits > best[0]):
            best = (hits, sentence)
    return best[1] if best else None


def _forms(documents: Iterable[Document], words: frozenset[str]) -> tuple[str, ...]:
    stems = frozenset(map(stem, words))
    starts = tuple({word[:_PREFIX] for word in words})
    said = {word for each in documents for word in each.word_counts if word.startswith(starts)}
    return tuple(sorted(word for word in said if stem(word) in stems))

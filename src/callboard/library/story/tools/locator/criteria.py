"""Search criteria: what a task's words ask for. Knows no files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.lexicon.lists import word_list
from callboard.library.story.model import Kind
from callboard.library.story.text import stop_words, words_of

_MOST_SCENES: Final = 500
_NUMBERED: Final = re.compile(
    r"\b(?:scenes?|chapters?|scn?|ch)\b[.\s#:-]*(?P<numbers>\d{1,4}"
    r"(?:\s*(?:-|–|—|to|through|until|and|&|,|\+)\s*(?:scenes?\s*|chapters?\s*)?\d{1,4}\b)*)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"(\d+)(?:\s*(?:-|–|—|to|through|until)\s*(?:\D{0,9}\s)?(\d+))?")
_SPLIT: Final = re.compile(r"[^\w]+|_")


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is looked for: scene numbers, words, and kinds if there is nothing else."""

    text: str
    numbers: frozenset[int]
    tokens: tuple[str, ...]
    kinds: frozenset[Kind]

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be looked for."""
        return not (self.numbers or self.tokens or self.kinds or self.text.strip())


def read_criteria(text: str, max_tokens: int) -> Criteria:
    """Return what a text asks for; verbs of tasks and function words ask for nothing."""
    numbers = scene_numbers(text)
    rest = _NUMBERED.sub(" ", text)
    ignored = stop_words() | word_list("task_words")
    words = [token for word in words_of(rest) for token in tokens_of(word)]
    kinds = frozenset(kind for kind in Kind for word in words if _means(word, kind))
    tokens = [
        word
        for word in dict.fromkeys(words)
        if word not in ignored and len(word) > 1 and not any(_means(word, kind) for kind in Kind)
    ]
    named = frozenset[Kind]() if tokens or numbers else kinds
    return Criteria(text, numbers, tuple(tokens[:max_tokens]), named)


def scene_numbers(text: str) -> frozenset[int]:
    """Return the scene numbers a text names: `scene 21`, `scenes 21-22`, `scenes 3, 5 and 7`."""
    found: set[int] = set()
    for hit in _NUMBERED.finditer(text):
        for pair in _RANGE.finditer(hit["numbers"]):
            first = int(pair[1])
            last = int(pair[2]) if pair[2] else first
            found.update(range(first, min(last, first + _MOST_SCENES) + 1))
    return frozenset(found)


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the lower-cased words of a name or path, taken apart at every mark."""
    return tuple(token for token in _SPLIT.split(text.lower()) if token)


def near_names(
    tokens: Iterable[str], names: frozenset[str], similarity: float, min_letters: int
) -> dict[str, frozenset[str]]:
    """Return for each token the words that count as it: itself and names spelled almost so."""
    found: dict[str, frozenset[str]] = {}
    for token in tokens:
        near: set[str] = {token}
        if token not in names and len(token) >= min_letters and token.isalpha():
            near.update(name for name in names if fuzz.ratio(token, name) >= similarity)
        found[token] = frozenset(near)
    return found


def _means(word: str, kind: Kind) -> bool:
    return word in words_in("kind_words", kind.value)

"""Lexicons by stem: word lists ready to be met in any inflection, and the vocabulary of a text.

A stem is only made for words that begin like one that is looked for: most words never need it.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache, cached_property
from typing import Final

from callboard.library.story.lexicon import numbered_words, words_in
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import stem

_PREFIX_LETTERS: Final = 3
_MOST_REMEMBERED: Final = 200_000


class StemTable:
    """What each stem stands for; asked with words as they are written."""

    def __init__(self, meanings: Iterable[tuple[str, float | str]]) -> None:
        """Take words with their meaning; of one stem the last meaning counts."""
        self._meanings: dict[str, float | str] = {}
        self._prefixes: set[str] = set()
        # Words met before: all of them, and those that mean something.
        self._met: set[str] = set()
        self._meant: dict[str, float | str] = {}
        for word, meaning in meanings:
            root = stem(word)
            self._meanings[root] = meaning
            self._prefixes |= {root[:_PREFIX_LETTERS], word[:_PREFIX_LETTERS]}

    def among(self, words: frozenset[str]) -> dict[str, float | str]:
        """Return the meaning of those of some lower-cased words that have one."""
        new = words - self._met
        for word in new:
            meaning = self._look_up(word)
            if meaning is not None:
                self._meant[word] = meaning
        # Last, so that another thread takes a word for met only when its meaning is known.
        if len(self._met) < _MOST_REMEMBERED:
            self._met |= new
        return {word: self._meant[word] for word in words & self._meant.keys()}

    def _look_up(self, word: str) -> float | str | None:
        if word[:_PREFIX_LETTERS] not in self._prefixes:
            return None
        return self._meanings.get(stem(word.removesuffix("'s")))


class TextVocabulary:
    """The words of one text, found by stem."""

    def __init__(self, words: frozenset[str]) -> None:
        """Take the text's words in lower case."""
        self._words = words

    def has(self, root: str) -> bool:
        """Say whether some word of the text has this stem."""
        if root in self._words and stem(root) == root:
            return True
        near = self._by_prefix.get(root[:_PREFIX_LETTERS], ())
        return any(stem(word) == root for word in near)

    def forms(self, roots: Iterable[str]) -> frozenset[str]:
        """Return the words of the text that have one of these stems."""
        wanted = frozenset(roots)
        starts = tuple({root[:_PREFIX_LETTERS] for root in wanted})
        near = [word for word in self._words if word.startswith(starts)]
        return frozenset(word for word in near if stem(word.removesuffix("'s")) in wanted)

    @cached_property
    def _by_prefix(self) -> dict[str, list[str]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for word in self._words:
            found[word[:_PREFIX_LETTERS]].append(word.removesuffix("'s"))
        return found


def different_words(sentences: Iterable[Sentence]) -> frozenset[str]:
    """Return the words of some sentences, each once, in lower case."""
    return frozenset[str]().union(*(sentence.words for sentence in sentences))


@cache
def table_of(lexicon: str, *groups: str) -> StemTable:
    """Return the table in which every word of some groups stands for its group."""
    return StemTable((word, group) for group in groups for word in sorted(words_in(lexicon, group)))


@cache
def weights_of(lexicon: str) -> StemTable:
    """Return the table of a lexicon of weights; of one stem the strongest weight counts."""
    return StemTable(
        (word, float(weight)) for weight, words in numbered_words(lexicon) for word in sorted(words)
    )

"""Words: how a text is cut into them, and whether they look like English."""

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from callboard.library.story.lexicon import word_list

MIN_ENGLISH_SHARE: Final = 0.15
# A hyphen or an apostrophe keeps a word together, and a mark between digits a number.
_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)+|[^\W_]+(?:['\-\u2010\u2011][^\W_]+)*")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, apostrophes straight, hyphens kept."""
    return tuple(_WORD.findall(_straight(text.lower())))


def count_words(text: str) -> int:
    """Count words without keeping them."""
    return len(_WORD.findall(_straight(text)))


def _straight(text: str) -> str:
    # Three passes in C are cheaper than one table.
    return text.replace("’", "'").replace("‘", "'").replace("ʼ", "'")


def english_share(words: Sequence[str]) -> float:
    """Return which part of the words are English function words."""
    if not words:
        return 1.0
    known = stop_words()
    return sum(word in known for word in words) / len(words)


def looks_english(words: Sequence[str]) -> bool:
    """Say whether English lexicons may be used on these words; nothing to judge counts as yes."""
    return english_share(words) >= MIN_ENGLISH_SHARE


def stop_words() -> frozenset[str]:
    """Return the English function words."""
    return word_list("stop_words")


def content_words(
    text: str | Iterable[str], *, min_letters: int = 1, idle: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the words of a text, or those of some words, that say something.

    Function words, `idle` ones and shorter ones do not.
    """
    words = words_of(text) if isinstance(text, str) else text
    ignored = stop_words() | idle
    return frozenset(word for word in words if len(word) >= min_letters and word not in ignored)


def content_stems(
    text: str | Iterable[str], *, min_letters: int = 1, idle: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the stems of the words that say something."""
    return frozenset(map(stem, content_words(text, min_letters=min_letters, idle=idle)))


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the English stem of a lower-cased word."""
    return _stemmers().stem(word)


class _Stemmers(threading.local):
    # A stemmer remembers the word it works on, so each thread has its own.
    def __init__(self) -> None:
        import snowballstemmer

        make: Any = snowballstemmer
        self.stem: Callable[[str], str] = make.stemmer("english").stemWord


@cache
def _stemmers() -> _Stemmers:
    return _Stemmers()

"""Occurrences: how often, where and in which spelling each word of a project stands."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.library.story.text import Document, Sentence

_TOKEN: Final = re.compile(
    r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*(?:['’][^\W\d_]+)?|\d+|[.,;:!?…—–()“”\"]"
)


_POSSESSIVE: Final = re.compile(r"['’]s?$")


_ARTICLES: Final = frozenset(
    re.findall(r"\w+", "the a an his her my their our your its this that every each no another")
)


@dataclass(frozen=True, slots=True)
class WordPlace:
    """One sentence of one file."""

    file: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark as written, and whether a sentence or a speech opens with it."""

    text: str
    opens: bool

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return self.text[0].isalpha()


@dataclass
class Occurrences:
    """Where each form stands: single words, and pairs of words that follow each other."""

    documents: Sequence[Document]
    # As written; a word that only opens a sentence is not held against its capital.
    words: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    opening_words: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    # "drawing-room" and "drawing room" where an article comes before and no noun can follow.
    noun_pairs: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    # "Time Machine" and "time machine" after "the".
    the_pairs: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))

    def count(self, word: str) -> int:
        """Return how often a word stands where its capital letter is its own."""
        return len(self.words.get(word, ()))


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the words and marks of a sentence; possessive endings are taken off."""
    opens = True
    for hit in _TOKEN.finditer(text):
        told = hit[0]
        if told[0].isalpha():
            yield Token(_POSSESSIVE.sub("", told), opens)
            opens = False
        else:
            yield Token(told, False)
            opens = opens or told in '.!?…“"—–:'


def collect(documents: Sequence[Document], followers: frozenset[str]) -> Occurrences:
    """Walk all sentences once; `followers` are the words that can come after a noun."""
    found = Occurrences(documents)
    for number, document in enumerate(documents):
        for sentence in document.sentences:
            _take(found, WordPlace(number, sentence), list(tokens_of(sentence.text)), followers)
    return found


def _take(
    found: Occurrences, place: WordPlace, tokens: list[Token], followers: frozenset[str]
) -> None:
    for at, token in enumerate(tokens):
        if not token.is_word:
            continue
        listed = found.opening_words if token.opens else found.words
        listed[token.text].append(place)
        before = tokens[at - 1].text.lower() if at else ""
        if before not in _ARTICLES:
            continue
        _take_nouns(found, place, tokens[at : at + 3], before, followers)


def _take_nouns(
    found: Occurrences,
    place: WordPlace,
    tokens: list[Token],
    before: str,
    followers: frozenset[str],
) -> None:
    first, second, third = (*tokens, None, None, None)[:3]
    if first is None:
        return
    if "-" in first.text and _ends_noun(second, followers):
        found.noun_pairs[first.text.lower()].append(place)
    if second is None or not second.is_word:
        return
    pair = f"{first.text} {second.text}"
    if _ends_noun(third, followers):
        found.noun_pairs[pair.lower()].append(place)
    # Before another capital it is a title or a part of a longer name.
    if before == "the" and not (third and third.text[0].isupper()):
        found.the_pairs[pair].append(place)


def _ends_noun(token: Token | None, followers: frozenset[str]) -> bool:
    return token is None or not token.is_word or token.text in followers

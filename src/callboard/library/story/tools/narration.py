"""Narration: what of each sentence its narrator tells, speech left out. Refuses to judge it."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.library.story.text.document import Document
from callboard.library.story.text.sentences import Sentence
from callboard.library.story.text.words import words_of

_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_LEADING: Final = re.compile(r"^[\s>“”\"«»‘’'\-–—*_(\[]+")


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of the document and the part of it that is narration."""

    index: int
    sentence: Sentence
    text: str
    words: tuple[str, ...]
    # False where the sentence opens with speech: "“No,” he said."
    opens: bool


@dataclass(frozen=True)
class Narration:
    """The narration of one document, in order."""

    document: Document
    told: tuple[Told, ...]

    @cached_property
    def word_count(self) -> int:
        """How many words are narration."""
        return sum(len(each.words) for each in self.told)


def narration_of(document: Document) -> Narration:
    """Separate what is narrated from what is said."""
    told: list[Told] = []
    for index, sentence in enumerate(document.sentences):
        if not sentence.has_dialogue:
            told.append(Told(index, sentence, sentence.text, sentence.words, opens=True))
            continue
        words = words_of(sentence.narration)
        if words:
            opens = sentence.spoken[0][0] > len(_leading(sentence.text))
            told.append(Told(index, sentence, sentence.narration, words, opens))
    return Narration(document, tuple(told))


def proper_words(document: Document) -> frozenset[str]:
    """Return, in lower case, the words a text only ever writes with a capital: mostly names."""
    words = frozenset(_WORD.findall(document.prose))
    capital = frozenset(word.lower() for word in words if word[0].isupper())
    return capital - words


def first_word(text: str) -> str:
    """Return the first word as written, whatever marks stand before it."""
    words = text[len(_leading(text)) :].split(maxsplit=1)
    return words[0].rstrip(".,;:!?…”\"'’)]") if words else ""


def _leading(text: str) -> str:
    found = _LEADING.match(text)
    return found[0] if found else ""

"""Names in prose: capitalised words and runs of them, counted per document. Decides nothing.

What opens a sentence or a speech is counted apart, for there a capital says nothing.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from callboard.library.story.lexicon.lists import word_list
from callboard.library.story.text import Document, Sentence

UPPER: Final = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪĮİŁŃŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽА-ЯЁΑ-Ω"
# A possessive ends a run: Holmes’s Baker Street is not one name.
_TOKEN: Final = rf"[{UPPER}][^\W_]*(?:[’'\-](?!s\b)[^\W_]+)*"
_LINK: Final = r"(?:of(?: the)?|de|du|von|van|la|le|ap|bin|ibn)"
_TITLES: Final = r"(?:Mrs?|Ms|Dr|St|Prof|Capt|Col|Gen|Lt|Lieut|Sgt|Rev|Mme|Mlle|[A-Z])\."
_RUN: Final = re.compile(rf"(?:{_TITLES} ?|{_TOKEN} )*{_TOKEN}(?: {_LINK} {_TOKEN}(?: {_TOKEN})*)?")
_LOWER: Final = re.compile(r"(?<![\w’'\-])[^\W\d_A-Z][^\W_]*(?:[’'\-][^\W_]+)*")
_OPENERS: Final = frozenset("\n“\"‘'«»„([:.?!…•*")
_POSSESSIVE: Final = re.compile(r"'s?$")
_SPEAKS: Final = re.compile(r"[^\W\d_]+")
_PLACE_WORDS: Final = frozenset(
    ("in", "at", "from", "to", "into", "near", "through", "across", "toward", "towards", "around")
)

Run = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameCounts:
    """How often each run of capitalised words occurs in one document, and in which company."""

    inside: Mapping[Run, int]
    opening: Mapping[Run, int]
    # Before or after a verb of speech; after a word of place.
    speaking: Mapping[Run, int]
    placed: Mapping[Run, int]
    lower: Mapping[str, int]


def count_names(document: Document) -> NameCounts:
    """Count the capitalised runs of a document."""
    inside: Counter[Run] = Counter()
    opening: Counter[Run] = Counter()
    speaking: Counter[Run] = Counter()
    placed: Counter[Run] = Counter()
    verbs = word_list("speech_verbs")
    text = document.prose
    for hit in _RUN.finditer(text):
        run = _run(hit[0])
        (opening if _opens(text, hit.start()) else inside)[run] += 1
        before, after = _word_before(text, hit.start()), _word_after(text, hit.end())
        if before in verbs or after in verbs:
            speaking[run] += 1
        if before in _PLACE_WORDS:
            placed[run] += 1
    lower = Counter(_LOWER.findall(document.prose))
    return NameCounts(inside, opening, speaking, placed, lower)


def bare_token(token: str) -> str:
    """Return a token without the mark of the possessive."""
    return _POSSESSIVE.sub("", token.replace("’", "'"))


@lru_cache(maxsize=50_000)
def _run(text: str) -> Run:
    return tuple(bare_token(token) for token in text.replace(".", ". ").split())


def _opens(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] == " ":
        at -= 1
    # A dash that opens a paragraph opens a speech.
    return at < 0 or text[at] in _OPENERS or (text[at] in "—–-" and text[at - 1 : at] in ("", "\n"))


def _word_before(text: str, start: int) -> str:
    head = text[max(0, start - 16) : start].rstrip(" ")
    word = head.rpartition(" ")[2]
    if word == "the":
        word = head[:-3].rstrip().rpartition(" ")[2]
    return word if word.isalpha() else ""


def _word_after(text: str, end: int) -> str:
    hit = _SPEAKS.match(text, end + 1) if text[end : end + 1] == " " else None
    return hit[0] if hit else ""


def mentions_in(sentence: Sentence) -> tuple[str, ...]:
    """Return the capitalised runs of one sentence as they are written."""
    return tuple(hit[0] for hit in _RUN.finditer(sentence.text))

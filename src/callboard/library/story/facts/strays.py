"""Strays: people a book names too seldom for its index, by their full names.

A watchman who dies in one line and speaks in another is nobody's main character. Only a title or a
given name in wide use makes a name a person's; "Canal Street" is none.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from callboard.library.story.index import StoryIndex
from callboard.library.story.index.names import given_gender, is_given_name
from callboard.library.story.text import Document

_COURTESIES: Final = frozenset({"mr", "mrs", "miss", "ms", "sir", "lady", "lord", "dame"})
_STRAY_TITLES: Final = _COURTESIES | frozenset(
    [
        "dr",
        "doctor",
        "judge",
        "captain",
        "colonel",
        "major",
        "general",
        "lieutenant",
        "admiral",
        "sergeant",
        "inspector",
        "professor",
        "reverend",
        "father",
        "sister",
        "aunt",
        "uncle",
        "widow",
        "bishop",
        "constable",
        "corporal",
        "private",
        "nurse",
        "commander",
        "old",
    ]
)
FULL_NAME: Final = re.compile(r"\b[A-Z][a-z]+\.? [A-Z][a-z]+(?: [A-Z][a-z]+)?\b")


def stray_names(index: StoryIndex, documents: Sequence[Document]) -> dict[str, str]:
    """Return full names of people who are named too seldom to be entities of the book.

    "Lieutenant Fairfax" is nobody else of that family as long as nobody goes by that title.
    """
    known = {_spelt(alias) for entity in index.entities for alias in entity.aliases}
    family = {word for entity in index.entities for word in entity.name.split()}
    found: Counter[str] = Counter()
    for document in documents:
        if document.is_english:
            found.update(match[0] for match in FULL_NAME.finditer(document.prose))
    strays: dict[str, str] = {}
    for name in found:
        words = name.split()
        title = words[0].rstrip(".").lower()
        rest = _spelt(" ".join(words[1:]))
        if _spelt(name) in known or (rest in known and len(words) > 2):
            continue
        is_titled = title in _STRAY_TITLES
        if is_titled and len(words) == 2 and words[1] in family and not _is_other(index, words):
            continue
        if is_titled or (is_given_name(words[0]) and not index.entities.get(words[0])):
            strays[name] = name
    return strays


def _is_other(index: StoryIndex, words: list[str]) -> bool:
    """Say whether a rank and a family name can be nobody known: none of them bears a rank."""
    title = words[0].rstrip(".").lower()
    if title in _COURTESIES:
        return False
    bearers = [each for each in index.entities if words[1] in each.name.split()]
    told = {given_gender(each.name.split()[0]) for each in bearers}
    return told == {"female"}


def _spelt(name: str) -> str:
    return name.replace(".", "").lower()

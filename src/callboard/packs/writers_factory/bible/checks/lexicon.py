"""The words the checks go by, read once from the file beside this module."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from callboard.core.bundled import bundled_yaml
from callboard.library.story.text.words import stem, words_of


@dataclass(frozen=True, slots=True)
class Circumstance:
    """A family of things that happen to people, and weaknesses they could answer it with."""

    name: str
    words: frozenset[str]
    phrases: tuple[str, ...]
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every list of the file, ready to be met by the words of a text."""

    placeholders: re.Pattern[str]
    circumstances: tuple[Circumstance, ...]
    inner: frozenset[str]
    claim_words: frozenset[str]
    nouns_before: frozenset[str]
    vague_openings: tuple[str, ...]
    constraint_words: frozenset[str]
    constraint_phrases: tuple[str, ...]


@cache
def lexicon() -> Lexicon:
    """Return the lists."""
    held: dict[str, Any] = bundled_yaml(
        "callboard.packs.writers_factory.bible.checks", "lexicon.yaml"
    )
    claim, constraint = held["claim"], held["constraint"]
    return Lexicon(
        placeholders=_placeholders(held["placeholders"]),
        circumstances=tuple(
            Circumstance(
                name,
                _words(family["words"]),
                tuple(family["phrases"]),
                tuple(family["alternatives"]),
            )
            for name, family in held["circumstances"].items()
        ),
        inner=_stems(held["inner"]),
        claim_words=_words(claim["helpers"]),
        nouns_before=_words(claim["nouns_before"]),
        vague_openings=tuple(claim["vague_openings"]),
        constraint_words=_words(constraint["words"]),
        constraint_phrases=tuple(constraint["phrases"]),
    )


def phrase_in(phrases: tuple[str, ...], words: tuple[str, ...]) -> str | None:
    """Return the first of some phrases that stands among the words, whole words only."""
    line = f" {' '.join(words)} "
    return next((phrase for phrase in phrases if f" {phrase} " in line), None)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    return frozenset(stem(word.removesuffix("'s")) for word in words_of(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _placeholders(lists: dict[str, list[str]]) -> re.Pattern[str]:
    # In capitals anywhere; in any case where the text begins with it: `todo` is also a word.
    written = "|".join(re.escape(each) for each in lists["as_written"])
    spoken = "|".join(re.escape(each) for each in lists["any_case"])
    return re.compile(rf"(?<!\w)(?:{written})(?!\w)|^\W*(?i:{written})(?:\W|$)|\b(?i:{spoken})\b")

"""Lexicons: the English word lists in `lexicons/`, as data.

A YAML file is a set of named word lists or phrases; a text file is one list, one or more words a
line, `#` for remarks.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

from callboard.core.bundled import bundled_yaml


@cache
def words_in(lexicon: str, group: str) -> frozenset[str]:
    """Return the lower-cased words of one group of `<lexicon>.yaml`."""
    return frozenset(str(_groups(lexicon)[group]).lower().split())


@cache
def phrases_in(lexicon: str, group: str) -> tuple[str, ...]:
    """Return the phrases of one group, in the order of the file."""
    return tuple(str(phrase).lower() for phrase in cast("list[str]", _groups(lexicon)[group]))


@cache
def complements_in(lexicon: str, group: str) -> Mapping[str, frozenset[str]]:
    """Return a group that gives each word the words that may follow it."""
    given = cast("dict[str, list[str]]", _groups(lexicon)[group])
    return {str(word): frozenset(str(each) for each in after) for word, after in given.items()}


@cache
def families_in(lexicon: str, group: str) -> Mapping[str, frozenset[str]]:
    """Return a group of families: the words each name stands for; `_` joins words of a phrase."""
    given = cast("dict[str, str]", _groups(lexicon)[group])
    return {
        str(name): frozenset(word.replace("_", " ") for word in str(words).lower().split())
        for name, words in given.items()
    }


@cache
def numbered_words(lexicon: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """Return the groups of a lexicon that are named by numbers, the faintest first."""
    weights = [int(group) for group in _groups(lexicon) if group.lstrip("-").isdigit()]
    ordered = sorted(weights, key=lambda weight: (abs(weight), weight))
    return tuple((weight, words_in(lexicon, str(weight))) for weight in ordered)


@cache
def _groups(lexicon: str) -> Mapping[str, Any]:
    held: Mapping[Any, Any] = bundled_yaml("callboard.library.story", f"lexicons/{lexicon}.yaml")
    return {str(group): words for group, words in held.items()}


@cache
def word_list(name: str) -> frozenset[str]:
    """Return the lower-cased entries of `<name>.txt`; one line may hold several single words.

    A line that starts with `=` is one entry of several words.
    """
    return frozenset(entry.lower() for entry in _entries(name))


@cache
def word_list_as_written(name: str) -> frozenset[str]:
    """Return the entries of `<name>.txt` with their capitals."""
    return frozenset(_entries(name))


def _entries(name: str) -> list[str]:
    folder = files("callboard.library.story").joinpath("lexicons")
    text = folder.joinpath(f"{name}.txt").read_text(encoding="utf-8")
    entries: list[str] = []
    for line in text.splitlines():
        told = line.partition("#")[0].strip()
        entries.extend([told[1:].strip()] if told.startswith("=") else told.split())
    return entries

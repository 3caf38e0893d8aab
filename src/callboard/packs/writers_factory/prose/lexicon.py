"""The words the scanner and the measures go by, read from the file beside this module."""

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from callboard.core.bundled import bundled_yaml


@cache
def words_in(group: str) -> frozenset[str]:
    """Return the words of a group."""
    return frozenset(ordered_words(group))


@cache
def ordered_words(group: str) -> tuple[str, ...]:
    """Return the words of a group in the order of the file."""
    return tuple(str(_groups()[group]).split())


@cache
def metaphor_domains() -> Mapping[str, frozenset[str]]:
    """Return the fields metaphors are drawn from, each with its words."""
    given = cast("dict[str, str]", _groups()["domains"])
    return {name: frozenset(words.split()) for name, words in given.items()}


@cache
def one_of(group: str) -> str:
    """Return an expression that matches any word of a group."""
    return "|".join(sorted(words_in(group)))


def _groups() -> Mapping[str, Any]:
    return bundled_yaml("callboard.packs.writers_factory.prose", "words.yaml")

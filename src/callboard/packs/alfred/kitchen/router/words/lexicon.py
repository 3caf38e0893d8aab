"""The words of the kitchen, from the file beside this module."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from callboard.knowledge.entities.matching import name_key


@cache
def words(group: str) -> tuple[str, ...]:
    """Return a list of words, the longest first."""
    listed: list[str] = _book()[group]
    return tuple(sorted(listed, key=lambda word: (-len(word), word)))


@cache
def kinds(group: str) -> Mapping[str, str]:
    """Return what each word of a group stands for."""
    return {word: kind for kind, listed in _book()[group].items() for word in listed}


@cache
def numbers() -> Mapping[str, float]:
    """Return the numbers that are written as words."""
    return {word: float(value) for word, value in _book()["numbers"].items()}


def read_count(text: str) -> float | None:
    """Return the number a word says; an article says none."""
    if text.isdigit():
        return float(text) or None
    return None if text.casefold() in ("a", "an") else numbers().get(text.casefold())


@cache
def any_of(*groups: str) -> str:
    """Return an expression that matches any word of some groups."""
    listed: list[str] = []
    for group in groups:
        content = _book()[group]
        listed += content if isinstance(content, list) else list(kinds(group))
    return alternatives(listed)


def alternatives(listed: Iterable[str]) -> str:
    """Return an expression that matches any of some words, the longest first."""
    ordered = sorted(set(listed), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word) for word in ordered) + ")"


@cache
def keyed(group: str) -> Mapping[str, str]:
    """Return the words of a list by their keys: `starters` is `starter`."""
    return {name_key(word): word for word in words(group)}


@cache
def _book() -> dict[str, Any]:
    import yaml

    folder = files("callboard.packs.alfred.kitchen.router.words")
    return yaml.safe_load(folder.joinpath("words.yaml").read_text("utf-8"))

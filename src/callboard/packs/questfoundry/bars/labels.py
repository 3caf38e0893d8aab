"""Labels: whether a reader can tell the choices of one section apart, by what they say and do."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Final

from callboard.library.story.text.words import stem
from callboard.packs.questfoundry.bars.checks import found, words_of_bars
from callboard.packs.questfoundry.bars.surfaces import shown
from callboard.packs.questfoundry.book.model import Book, KeyTest, Section, StoryChoice
from callboard.packs.questfoundry.book.playing import needs
from callboard.packs.questfoundry.verdict import BarFinding

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_OPENS: Final = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
_CLOSES: Final = frozenset("\u202c\u2069")
# Of a group that reads the same, so many pairs are told; more say nothing new.
_MOST_PAIRS: Final = 3


def read_labels(book: Book, section: Section) -> Iterator[BarFinding]:
    """Tell which labels of a section say too little, or the same as another."""
    plain = {choice: _plain(choice.label) for choice in section.choices}
    is_told = len(plain) == 1 or section.id in book.unread
    for choice, label in plain.items():
        yield from _alone(section, choice, label, is_told=is_told)
    if len(plain) > 1:
        yield from _against_others(book, section, plain)


def _against_others(
    book: Book, section: Section, plain: dict[StoryChoice, str]
) -> Iterator[BarFinding]:
    same: dict[str, list[StoryChoice]] = {}
    alike: dict[tuple[str, ...], list[StoryChoice]] = {}
    for choice, label in plain.items():
        if label:
            same.setdefault(label, []).append(choice)
            alike.setdefault(sense_of(label), []).append(choice)
    for group in same.values():
        for one, other in _together(book, group):
            if one.to != other.to:
                yield _pair("label_same", section, one, other)
    for group in alike.values():
        for one, other in _together(book, group):
            if plain[one] != plain[other]:
                yield _pair("label_alike", section, one, other)


def _alone(
    section: Section, choice: StoryChoice, label: str, *, is_told: bool
) -> Iterator[BarFinding]:
    place = f"{section.id}/{choice.id}"
    # Where there is nothing to choose, or a way out of code, three dots say that it goes on.
    if not label and not (is_told and choice.label.strip() == "…"):
        yield found("label_missing", place, f"the label is {choice.label!r}")
    elif len(section.choices) > 1 and label in words_of_bars("vague"):
        yield found("label_vague", place, f"“{choice.label}” among {len(section.choices)}")
    if not choice.label.isascii() and not _is_balanced(choice.label):
        yield found("label_bidi", place, "a direction mark is not closed")


def read_false_choices(book: Book, section: Section) -> Iterator[BarFinding]:
    """Tell which choices of a section lead to one place and do the same."""
    groups: dict[tuple[object, ...], list[StoryChoice]] = {}
    for choice in section.choices:
        groups.setdefault((choice.to, choice.effects), []).append(choice)
    for group in groups.values():
        for one, other in _together(book, group):
            told = f"{one.id} and {other.id} both lead to {one.to} with the same effects"
            yield found("false_choice", f"{section.id}/{other.id}", told)


@cache
def _senses() -> dict[str, str]:
    return {word: group.split()[0] for group in words_of_bars("synonyms") for word in group.split()}


def sense_of(label: str) -> tuple[str, ...]:
    """Return what a label says, synonyms and word forms made one, idle words left out."""
    idle = words_of_bars("idle")
    return tuple(_sense(word) for word in _WORD.findall(label) if word not in idle) or (label,)


@lru_cache(maxsize=20_000)
def _sense(word: str) -> str:
    root = stem(word)
    return _senses().get(word) or _senses().get(root, root)


def _plain(label: str) -> str:
    text = shown(label)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return " ".join(_WORD.findall(text.casefold()))


def _is_balanced(label: str) -> bool:
    depth = 0
    for char in label:
        depth += (char in _OPENS) - (char in _CLOSES)
        if depth < 0:
            return False
    return depth == 0


def _together(book: Book, group: list[StoryChoice]) -> Iterator[tuple[StoryChoice, StoryChoice]]:
    """Yield pairs that one reader may see at once: a gateway shows even when it is shut."""
    if len(group) < 2:
        return
    told = 0
    # Neighbours are enough to name a large group, and all pairs of it are too many.
    pairs = combinations(group, 2) if len(group) < 20 else pairwise(group)
    for one, other in pairs:
        if told >= _MOST_PAIRS and len(group) < 20:
            return
        is_shown = one.gateway is not None or other.gateway is not None
        if is_shown or not _exclude(needs(book, one), needs(book, other)):
            told += 1
            yield one, other


def _exclude(one: tuple[KeyTest, ...], other: tuple[KeyTest, ...]) -> bool:
    return any(KeyTest(each.key, not each.negated) in other for each in one)


def _pair(check: str, section: Section, one: StoryChoice, other: StoryChoice) -> BarFinding:
    told = f"“{one.label}” ({one.id}) and “{other.label}” ({other.id})"
    return found(check, f"{section.id}/{other.id}", told)

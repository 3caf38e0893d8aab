"""Transitions: whether the first words of a scene say who, where or when we now are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.model import Finding, Severity
from callboard.library.story.text.document import Document
from callboard.library.story.text.words import stop_words, words_of
from callboard.library.story.thresholds import ReaderThresholds
from callboard.library.story.tools.noticing import noticed, quotes_of


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scene declares about itself, and the names its point of view goes by."""

    document: Document
    title: str
    pov: str | None
    place: str | None
    when: str | None
    pov_words: frozenset[str]


def disorienting(settings: Sequence[Setting], limits: ReaderThresholds) -> Iterator[Finding]:
    """Tell of scenes that change point of view, place or time and begin without saying so."""
    for before, now in pairwise(settings):
        changed = _changed(before, now)
        if not changed or not now.document.sentences:
            continue
        opening = opening_words(now.document, limits.opening_words)
        if is_oriented(opening, now):
            continue
        yield noticed(
            "disorienting_transition",
            Severity.MINOR,
            f"{now.title} changes {_listed(changed)}, and its first {limits.opening_words} words"
            " name neither who, where nor when",
            quotes_of(now.document, now.document.sentences, 2),
            "Give the reader a name, a place or an hour at once.",
            0.6,
        )


def opening_words(document: Document, count: int) -> frozenset[str]:
    """Return the first words of a scene."""
    words: list[str] = []
    for sentence in document.sentences:
        words += sentence.words
        if len(words) >= count:
            break
    return frozenset(word.removesuffix("'s") for word in words[:count])


def is_oriented(opening: frozenset[str], setting: Setting) -> bool:
    """Say whether some first words name the point of view, the place or the time."""
    if opening & setting.pov_words or opening & words_in("reader", "time_words"):
        return True
    if opening & words_in("grammar", "first_person") and not setting.pov_words:
        return True
    return bool(opening & _telling(setting.place))


def _changed(before: Setting, now: Setting) -> list[str]:
    pairs = (
        ("the point of view", before.pov, now.pov),
        ("the place", before.place, now.place),
        ("the time", before.when, now.when),
    )
    return [what for what, old, new in pairs if old and new and old.casefold() != new.casefold()]


def _telling(text: str | None) -> frozenset[str]:
    return frozenset(words_of(text or "")) - stop_words()


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

"""Which scene of an outline a task or a path means. Never guesses: one clear winner or none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from callboard.core.canonical import Json
from callboard.library.story.index import Outline, OutlineEntry
from callboard.library.story.index.metadata import name_from_path, number_in_filename
from callboard.library.story.index.outline import slug_of
from callboard.library.story.lexicon import word_list
from callboard.library.story.text import content_stems, stem, stop_words, words_of
from callboard.library.story.thresholds import OutlineThresholds
from callboard.library.story.tools.search import scene_numbers

_SUFFIXES: Final = (".md", ".markdown", ".txt")
_SHORT_SLUG: Final = 4
_TITLE_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Matched:
    """The scene that is meant, how that was told, and how surely."""

    index: int
    method: str
    confidence: float

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold."""
        return {"index": self.index, "method": self.method, "confidence": self.confidence}


def match_target(
    outline: Outline, target: str, limits: OutlineThresholds, file_entry: int | None = None
) -> Matched | None:
    """Return the scene a target means; `file_entry` is the one its file belongs to, if any."""
    if file_entry is not None:
        return Matched(file_entry, "file", 1.0)
    text = target.strip()
    numbers = scene_numbers(text)
    if text.lower().endswith(_SUFFIXES) and not any(char.isspace() for char in text):
        number = number_in_filename(text.rpartition("/")[2].rpartition(".")[0])
        numbers = frozenset[int]() if number is None else frozenset({number})
        text = name_from_path(text)
    ways: Sequence[Callable[[], Matched | None]] = (
        lambda: _by_number(outline.entries, numbers),
        lambda: _by_slug(outline.entries, text),
        lambda: _by_pov(outline.entries, text, limits.shared_tokens),
        lambda: _by_fuzzy_title(outline.entries, text, limits.fuzzy_title),
    )
    if numbers and (found := ways[0]()) is not None:
        return found
    if len(numbers) > 1:
        return None
    return next((found for way in ways[1:] if (found := way()) is not None), None)


def _by_number(entries: Sequence[OutlineEntry], numbers: frozenset[int]) -> Matched | None:
    found = [entry for entry in entries if entry.number in numbers]
    return Matched(found[0].index, "number", 1.0) if len(found) == 1 else None


def _by_slug(entries: Sequence[OutlineEntry], text: str) -> Matched | None:
    whole = f"-{slug_of(text)}-"
    found = [
        entry
        for entry in entries
        if len(entry.slug) >= _SHORT_SLUG
        and f"-{entry.slug}-" in whole
        and _is_title_in(entry.title, text)
    ]
    longest = max((len(entry.slug) for entry in found), default=0)
    best = [entry for entry in found if len(entry.slug) == longest]
    if len(best) != 1:
        return None
    return Matched(best[0].index, "title", 0.9 if "-" in best[0].slug else 0.75)


def _is_title_in(title: str, text: str) -> bool:
    """Say whether a title is meant: written with its capitals, or most of what is asked for."""
    if title in text and any(word[0].isupper() for word in title.split()[-1:]):
        return True
    asked = _stems(text)
    return bool(asked) and len(_stems(title) & asked) >= len(asked) * _TITLE_SHARE


def _by_pov(entries: Sequence[OutlineEntry], text: str, shared_tokens: int) -> Matched | None:
    said = frozenset(words_of(text))
    stems = _stems(text)
    scores: list[tuple[int, OutlineEntry]] = []
    for entry in entries:
        name = frozenset(words_of(entry.fields.get("pov", "")))
        if name & said - stop_words():
            shared = (stems & _stems(_told(entry))) - frozenset(map(stem, name))
            scores.append((len(shared), entry))
    scores.sort(key=lambda score: (-score[0], score[1].index))
    if not scores or scores[0][0] < shared_tokens:
        return None
    if len(scores) > 1 and scores[1][0] == scores[0][0]:
        return None
    return Matched(scores[0][1].index, "pov", 0.6)


def _by_fuzzy_title(
    entries: Sequence[OutlineEntry], text: str, similarity: float
) -> Matched | None:
    ignored = word_list("task_words") | {"scene", "chapter", "a", "an", "where", "called"}
    wanted = " ".join(word for word in words_of(text) if word not in ignored)
    scored = [
        (fuzz.ratio(wanted, " ".join(words_of(entry.title))), entry)
        for entry in entries
        if entry.title and wanted
    ]
    scored.sort(key=lambda score: (-score[0], score[1].index))
    if not scored or scored[0][0] < similarity:
        return None
    if len(scored) > 1 and scored[1][0] == scored[0][0]:
        return None
    return Matched(scored[0][1].index, "fuzzy_title", round(scored[0][0] / 100 * 0.8, 2))


def _told(entry: OutlineEntry) -> str:
    beats = " ".join(beat.text for beat in entry.beats)
    return f"{entry.title} {entry.summary} {beats} {entry.fields.get('location', '')}"


def _stems(text: str) -> frozenset[str]:
    return content_stems(text, idle=word_list("task_words") | {"scene", "chapter"})

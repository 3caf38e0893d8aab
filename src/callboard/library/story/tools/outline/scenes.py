"""Scenes of an outline: which one a task or a path means, and who carries them.

Never guesses which is meant: one clear winner or none.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from rapidfuzz import fuzz

from callboard.core.canonical import Json
from callboard.library.story.index import Outline, OutlineEntry
from callboard.library.story.index.metadata import name_from_path, number_in_filename, split_names
from callboard.library.story.index.outline import slug_of
from callboard.library.story.lexicon import word_list
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text import content_stems, stem, stop_words, words_of
from callboard.library.story.thresholds import OutlineThresholds
from callboard.library.story.tools.outline.structure import (
    TOOL,
    Subject,
    name_of,
    numbers_of,
    opening_name_of,
)
from callboard.library.story.tools.report import counted, make_finding
from callboard.library.story.tools.search import scene_numbers


def pov_findings(subject: Subject) -> Iterator[StoryFinding]:
    """Return what is odd about the points of view."""
    without = [entry for entry in subject.entries if not pov_of(entry)]
    if without:
        severity = Severity.INFO if len(without) == len(subject.entries) else Severity.MINOR
        yield make_finding(
            TOOL,
            "no_pov",
            severity,
            f"{counted(len(without), 'scene')} without a point of view: {numbers_of(without)}.",
            subject.quotes(without),
            suggestion="Add a line `POV: name`.",
        )
    yield from _pov_share(subject)


def absence_findings(subject: Subject) -> Iterator[StoryFinding]:
    """Return characters who are gone for long and then back."""
    limit = subject.limits.absence_scenes
    said = [_words_of_entry(entry) for entry in subject.entries]
    for name in _cast(subject.entries):
        words = frozenset(words_of(name))
        present = [entry for entry in subject.entries if words <= said[entry.index]]
        for before, after in pairwise(present):
            gone = after.index - before.index - 1
            if gone > limit:
                yield make_finding(
                    TOOL,
                    "long_absence",
                    Severity.INFO,
                    f"{name} is absent for {gone} scenes, from {name_of(before)} to"
                    f" {name_of(after)}.",
                    [subject.quote(before), subject.quote(after)],
                    suggestion="Remind the reader, or let somebody mention the name in between.",
                    confidence=0.7,
                )


def stakes_findings(subject: Subject) -> Iterator[StoryFinding]:
    """Return scenes near the end that say nothing of what is at stake."""
    entries = subject.entries
    if not any("stakes" in entry.fields for entry in entries):
        if entries:
            yield make_finding(
                TOOL,
                "no_stakes",
                Severity.INFO,
                "No scene of the outline says what is at stake.",
                subject.quotes(entries),
                suggestion="Add a line `Stakes: …`, above all to the last quarter.",
            )
        return
    last_quarter = entries[len(entries) - max(1, len(entries) // 4) :]
    for entry in last_quarter:
        if "stakes" not in entry.fields:
            yield make_finding(
                TOOL,
                "no_stakes",
                Severity.MINOR,
                f"{opening_name_of(entry)} is in the last quarter and has no stakes.",
                [subject.quote(entry)],
                suggestion="Add a line `Stakes: …`.",
            )


def pov_of(entry: OutlineEntry) -> str:
    """Return whose point of view a scene has, or nothing."""
    return entry.fields.get("pov", "").strip()


def _pov_share(subject: Subject) -> Iterator[StoryFinding]:
    limits, total = subject.limits, len(subject.entries)
    counts = Counter(pov for entry in subject.entries if (pov := pov_of(entry)))
    if total < limits.one_pov_min_scenes or not counts:
        return
    name, times = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if times / total > limits.one_pov_share:
        share = "every scene" if times == total else f"{times} of {total} scenes"
        yield make_finding(
            TOOL,
            "one_pov",
            Severity.INFO,
            f"{name} has the point of view of {share} ({times / total:.0%}).",
            subject.quotes([each for each in subject.entries if pov_of(each) == name]),
            suggestion="Fine for a story with one narrator; else give others a turn.",
        )
    if len(counts) < 2:
        return
    for pov, run in groupby(subject.entries, key=pov_of):
        scenes = list(run)
        if pov and len(scenes) >= limits.pov_run:
            yield make_finding(
                TOOL,
                "pov_run",
                Severity.INFO,
                f"{pov} has the point of view of {len(scenes)} scenes in a row, from"
                f" {name_of(scenes[0])} to {name_of(scenes[-1])}.",
                [subject.quote(scenes[0]), subject.quote(scenes[-1])],
                suggestion="Check whether another point of view belongs in between.",
            )


def _cast(entries: Sequence[OutlineEntry]) -> list[str]:
    names = (name for entry in entries for name in split_names(entry.fields.get("characters", "")))
    return sorted(dict.fromkeys(names))


def _words_of_entry(entry: OutlineEntry) -> frozenset[str]:
    told = [entry.title, entry.summary, *entry.fields.values(), *(b.text for b in entry.beats)]
    return frozenset(words_of(" ".join(told).replace("'s", "").replace("’s", "")))


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

"""Findings about who carries an outline: points of view, absences, stakes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from callboard.library.story.index import OutlineEntry
from callboard.library.story.index.metadata import split_names
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text import words_of
from callboard.library.story.tools.outline.structure import (
    TOOL,
    Subject,
    name_of,
    numbers_of,
    opening_name_of,
)
from callboard.library.story.tools.report import counted, make_finding


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

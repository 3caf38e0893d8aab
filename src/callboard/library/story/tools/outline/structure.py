"""Findings about the shape of an outline: numbers, beats, acts, and what has no file."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from callboard.library.story.index import Outline, OutlineEntry
from callboard.library.story.model import Quote, Severity, StoryFile, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.thresholds import OutlineThresholds
from callboard.library.story.tools.report import counted, make_finding

TOOL: Final = "outline_analyzer"
_QUOTED: Final = 3
# More scenes than these that an outline forgot are told as one.
_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """An outline with its document, the scene files, and which entry is which file."""

    document: Document
    outline: Outline
    scenes: Sequence[StoryFile]
    files: Mapping[int, StoryFile]
    # Where a scene file can be quoted.
    tops: Mapping[str, Quote]
    limits: OutlineThresholds

    @property
    def entries(self) -> tuple[OutlineEntry, ...]:
        """The scenes of the outline."""
        return self.outline.entries

    def quote(self, entry: OutlineEntry) -> Quote:
        """Return the line a scene opens with."""
        return self.document.quote(entry.line_start)

    def quotes(self, entries: Sequence[OutlineEntry]) -> tuple[Quote, ...]:
        """Return the opening lines of the first few."""
        return tuple(self.quote(entry) for entry in entries[:_QUOTED])


def name_of(entry: OutlineEntry) -> str:
    """Return how people would call a scene of the outline."""
    number = entry.index + 1 if entry.number is None else entry.number
    return f"scene {number} ({entry.title})" if entry.title else f"scene {number}"


def opening_name_of(entry: OutlineEntry) -> str:
    """Return the same at the start of a sentence."""
    return f"S{name_of(entry)[1:]}"


def numbers_of(entries: Sequence[OutlineEntry]) -> str:
    """Return the numbers of several scenes as one text, the many shortened."""
    told = [str(each.index + 1 if each.number is None else each.number) for each in entries]
    return ", ".join(told[:12]) + (f" and {len(told) - 12} more" if len(told) > 12 else "")


def structure_findings(subject: Subject) -> Iterator[StoryFinding]:
    """Return what is odd about numbers, acts and files."""
    yield from _duplicates(subject)
    yield from _gaps(subject)
    yield from _acts(subject)
    yield from _unwritten(subject)
    yield from _not_outlined(subject)
    yield from _other_order(subject)


def beat_findings(subject: Subject) -> Iterator[StoryFinding]:
    """Return scenes that say nothing of what happens in them."""
    bare = [entry for entry in subject.entries if not entry.beats]
    if bare and len(bare) == len(subject.entries):
        yield make_finding(
            TOOL,
            "no_beats",
            Severity.INFO,
            "No scene of the outline has beats.",
            subject.quotes(bare),
            suggestion="List beneath each scene what happens in it, a line each.",
        )
        return
    for entry in bare:
        severity = Severity.INFO if entry.summary else Severity.MINOR
        yield make_finding(
            TOOL,
            "no_beats",
            severity,
            f"{opening_name_of(entry)} has no beats.",
            [subject.quote(entry)],
            suggestion="Say in a few lines what happens in it.",
        )


def _numbering(subject: Subject) -> dict[str, list[OutlineEntry]]:
    """Return the numbered entries, together or per act where each act counts anew."""
    numbered = [entry for entry in subject.entries if entry.number is not None]
    by_act: dict[str, list[OutlineEntry]] = defaultdict(list)
    for entry in numbered:
        by_act[entry.act or ""].append(entry)
    starts = [entries[0].number for entries in by_act.values()]
    if len(starts) > 1 and all(start == starts[0] for start in starts):
        return by_act
    return {"": numbered}


def _duplicates(subject: Subject) -> Iterator[StoryFinding]:
    for entries in _numbering(subject).values():
        counts = Counter(entry.number for entry in entries)
        for number in sorted(each for each, times in counts.items() if each and times > 1):
            same = [entry for entry in entries if entry.number == number]
            yield make_finding(
                TOOL,
                "duplicate_number",
                Severity.MAJOR,
                f"Scene number {number} is used {counts[number]} times.",
                subject.quotes(same),
                suggestion="Number each scene once.",
            )


def _gaps(subject: Subject) -> Iterator[StoryFinding]:
    for entries in _numbering(subject).values():
        ordered = sorted(entries, key=lambda entry: (entry.number or 0, entry.index))
        for before, after in pairwise(ordered):
            missing = range((before.number or 0) + 1, after.number or 0)
            if not missing:
                continue
            told = (
                f"number {missing[0]} is"
                if len(missing) == 1
                else (f"numbers {missing[0]} to {missing[-1]} are")
            )
            yield make_finding(
                TOOL,
                "missing_number",
                Severity.MINOR,
                f"Scene {told} missing between {name_of(before)} and {name_of(after)}.",
                [subject.quote(before), subject.quote(after)],
                suggestion="Add the scene, or number the following ones anew.",
            )


def _acts(subject: Subject) -> Iterator[StoryFinding]:
    total = len(subject.entries)
    limits = subject.limits
    acts = Counter(entry.act for entry in subject.entries if entry.act)
    if total <= limits.acts_min_scenes:
        return
    if not acts:
        yield make_finding(
            TOOL,
            "no_acts",
            Severity.INFO,
            f"{counted(total, 'scene')} stand in no act or part.",
            subject.quotes(subject.entries),
            suggestion="Put the scenes under headings of the second level.",
        )
    if len(acts) < 2:
        return
    for act in subject.outline.acts:
        share = acts[act.title] / total
        if limits.small_act_share <= share <= limits.large_act_share:
            continue
        size = "small" if share < limits.small_act_share else "large"
        yield make_finding(
            TOOL,
            f"{size}_act",
            Severity.INFO,
            f"{act.title} holds {acts[act.title]} of {total} scenes ({share:.0%}).",
            [subject.document.quote(act.line)],
            suggestion="Check whether the weight of the acts is meant.",
        )


def _unwritten(subject: Subject) -> Iterator[StoryFinding]:
    if not subject.scenes:
        return
    written = [entry.index for entry in subject.entries if entry.index in subject.files]
    last = max(written, default=-1)
    missing = [entry for entry in subject.entries if entry.index not in subject.files]
    for entry in missing:
        if entry.index < last:
            yield make_finding(
                TOOL,
                "entry_without_file",
                Severity.MINOR,
                f"{opening_name_of(entry)} has no file, though later scenes have one.",
                [subject.quote(entry)],
                suggestion="Write it, or take it out of the outline.",
            )
    ahead = [entry for entry in missing if entry.index > last]
    if ahead:
        yield make_finding(
            TOOL,
            "entry_without_file",
            Severity.INFO,
            f"Not written yet: {counted(len(ahead), 'scene')} ({numbers_of(ahead)}).",
            subject.quotes(ahead),
        )


def _not_outlined(subject: Subject) -> Iterator[StoryFinding]:
    outlined = {file.path for file in subject.files.values()}
    forgotten = [s for s in subject.scenes if s.path not in outlined and s.path in subject.tops]
    if len(forgotten) > _LISTED:
        yield make_finding(
            TOOL,
            "file_without_entry",
            Severity.MINOR,
            f"{counted(len(forgotten), 'scene')} are not in the outline,"
            f" from {forgotten[0].path} to"
            f" {forgotten[-1].path}.",
            [subject.tops[scene.path] for scene in forgotten],
            suggestion="Add them to the outline, or leave it out of this.",
        )
        return
    for scene in forgotten:
        yield make_finding(
            TOOL,
            "file_without_entry",
            Severity.MINOR,
            f"{scene.path} is not in the outline.",
            [subject.tops[scene.path]],
            suggestion="Add the scene to the outline.",
        )


def _other_order(subject: Subject) -> Iterator[StoryFinding]:
    placed = [
        (entry, file)
        for entry in subject.entries
        if (file := subject.files.get(entry.index)) and file.scene_number is not None
    ]
    for (before, first), (after, second) in pairwise(placed):
        if _number(first) <= _number(second):
            continue
        yield make_finding(
            TOOL,
            "order_differs",
            Severity.MINOR,
            f"{first.path} is number {first.label} but stands before"
            f" {second.path}, number {second.label}, in the outline.",
            [subject.quote(before), subject.quote(after)],
            suggestion="Bring the numbers of the files and the outline into one order.",
        )


def _number(file: StoryFile) -> tuple[int, int]:
    return file.chapter or 0, file.scene_number or 0

"""The files of a project: parsed, brought up to date one by one, and put into story order.

A file is read again when its time or size changed, and parsed again only when its content did. The
order is the outline's, then by chapter and scene number, then by path. Files that lie in numbered
chapters are in the order of their places, whatever an outline says. What the project keeps of
former texts, or made of the present ones, is no part of the story.
"""

import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.library.story.index.chapters import chapters_of, decode_text
from callboard.library.story.index.metadata import (
    describe,
    name_from_path,
    numbered_title,
    place_in_path,
)
from callboard.library.story.index.names import NameCounts, count_names
from callboard.library.story.index.outline import Outline, OutlineEntry, slug_of
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import Document
from callboard.tools import FileMissing, ListedFile, ProjectFiles, Unreadable

SUFFIXES: Final = (".md", ".markdown", ".txt")
# A file this young may change again without its time telling.
_SETTLED_NS: Final = 50_000_000

_DIGITS: Final = re.compile(r"(\d+)")
_LAST: Final = 10**9
_DERIVED: Final = ("content/Archive/", "content/Export/", "content/Reports/")


@dataclass(frozen=True)
class ParsedFile:
    """A file as it was read, and what follows from its content alone."""

    document: Document
    file: StoryFile
    # The chapters, if the file holds a whole book.
    chapters: tuple["ParsedFile", ...] = ()

    @cached_property
    def names(self) -> NameCounts:
        """The capitalised words of its prose."""
        return count_names(self.document)


@dataclass(frozen=True, slots=True)
class ParsedTexts:
    """All texts of a project at one moment, and why others are not among them."""

    parsed: Mapping[str, ParsedFile]
    problems: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _SeenFile:
    modified_ns: int
    size_bytes: int
    is_settled: bool
    parsed: ParsedFile | None = None
    problem: str | None = None

    def is_as(self, listed: ListedFile) -> bool:
        same = (self.modified_ns, self.size_bytes) == (listed.modified_ns, listed.size_bytes)
        return self.is_settled and same

    def says_the_same_as(self, other: "_SeenFile | None") -> bool:
        return other is not None and (self.parsed, self.problem) == (other.parsed, other.problem)


class ParsedFiles:
    """What was parsed so far; one thread at a time brings it up to date."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self._seen: dict[str, _SeenFile] = {}
        self._texts: ParsedTexts | None = None
        self._largest_bytes = 0

    def refresh(self, files: ProjectFiles, largest_bytes: int) -> ParsedTexts:
        """Return the texts of the project; the same object as long as nothing has changed."""
        with self._lock:
            if largest_bytes != self._largest_bytes:
                self._seen, self._largest_bytes = {}, largest_bytes
            listed = files.list_files(suffixes=SUFFIXES, with_links_out=True)
            told = (each for each in listed if not each.path.startswith(_DERIVED))
            seen = {each.path: self._look(files, each) for each in told}
            is_same = len(seen) == len(self._seen) and all(
                each.says_the_same_as(self._seen.get(path)) for path, each in seen.items()
            )
            self._seen = seen
            if self._texts is None or not is_same:
                self._texts = ParsedTexts(
                    {
                        part.file.path: part
                        for each in seen.values()
                        if each.parsed is not None
                        for part in (each.parsed, *each.parsed.chapters)
                    },
                    {path: each.problem for path, each in seen.items() if each.problem is not None},
                )
            return self._texts

    def _look(self, files: ProjectFiles, listed: ListedFile) -> _SeenFile:
        old = self._seen.get(listed.path)
        if old is not None and old.is_as(listed):
            return old
        if listed.leads_out:
            return _SeenFile(0, 0, True, problem="a link that leads out of the project, left out")
        is_settled = time.time_ns() - listed.modified_ns > _SETTLED_NS
        stamp = (listed.modified_ns, listed.size_bytes, is_settled)
        if listed.size_bytes > self._largest_bytes:
            return _SeenFile(*stamp, problem=f"larger than {self._largest_bytes} bytes, left out")
        try:
            data = files.read_bytes(listed.path)
        except Unreadable:
            return _SeenFile(*stamp, problem="cannot be read, left out")
        except FileMissing:
            return _SeenFile(0, 0, False, problem="gone while it was being read")
        sha256 = digest_bytes(data)
        if old is not None and old.parsed is not None and old.parsed.file.sha256 == sha256:
            return _SeenFile(*stamp, parsed=old.parsed)
        text = decode_text(data)
        if text is None:
            return _SeenFile(*stamp, problem="not a text in UTF-8, UTF-16 or Latin-1, left out")
        return _SeenFile(*stamp, parsed=parse_document(Document(listed.path, text), sha256))


def parse_document(document: Document, sha256: str = "") -> ParsedFile:
    """Say what a text is to the story, and take a whole book apart."""
    file = describe(document, sha256)
    chapters = tuple(ParsedFile(*each) for each in chapters_of(document, file))
    # The book itself is no scene: its chapters are.
    whole = replace(file, kind=FileKind.OTHER, scene_number=None) if chapters else file
    return ParsedFile(document, whole, chapters)


def natural_key(path: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts `scene-9` before `scene-10`."""
    parts = _DIGITS.split(path.lower())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)


def match_files(outline: Outline | None, scenes: Sequence[StoryFile]) -> Mapping[int, str]:
    """Return which entry of the outline is which file: by title, else by number."""
    if outline is None:
        return {}
    free = _Free(scenes, outline)
    found: dict[int, str] = {}
    for way in (free.by_title, free.by_number):
        for entry in outline.entries:
            if entry.index not in found and (path := way(entry)) is not None:
                found[entry.index] = path
    return found


def in_story_order(
    scenes: Sequence[StoryFile], outline: Outline | None, matches: Mapping[int, str]
) -> tuple[StoryFile, ...]:
    """Return the scenes in story order; one without a number takes that of its outline entry."""
    place = {path: index for index, path in matches.items()}
    numbered = [_with_number(scene, outline, place) for scene in scenes]
    if any(place_in_path(scene.path) for scene in scenes):
        place = {}
    anchors = sorted(
        (_number(scene), place[scene.path])
        for scene in numbered
        if scene.path in place and scene.scene_number is not None
    )
    return tuple(sorted(numbered, key=lambda scene: _key(scene, place, anchors)))


_Number = tuple[int, int]


def _key(
    scene: StoryFile, place: Mapping[str, int], anchors: Sequence[tuple[_Number, int]]
) -> tuple[float, _Number, tuple[tuple[int, str], ...]]:
    number = _number(scene)
    if scene.path in place:
        return place[scene.path], (-1, -1), natural_key(scene.path)
    # A scene the outline forgot comes after the last outlined scene with a smaller number.
    before = [at for each, at in anchors if each < number]
    return (max(before) + 0.5 if before else -1.0), number, natural_key(scene.path)


def _number(scene: StoryFile) -> _Number:
    return (
        _LAST if scene.chapter is None else scene.chapter,
        _LAST if scene.scene_number is None else scene.scene_number,
    )


def _with_number(scene: StoryFile, outline: Outline | None, place: Mapping[str, int]) -> StoryFile:
    if outline is None or scene.scene_number is not None or scene.path not in place:
        return scene
    return replace(scene, scene_number=outline.entries[place[scene.path]].number)


_Place = tuple[int | None, int | None]


class _Free:
    """The scene files that no entry has taken yet, by title and number."""

    def __init__(self, scenes: Sequence[StoryFile], outline: Outline) -> None:
        self._by_slug: dict[str, list[StoryFile]] = defaultdict(list)
        self._by_number: dict[_Place, list[StoryFile]] = defaultdict(list)
        self._has_chapters = any(scene.chapter is not None for scene in scenes)
        self._numbers = Counter(self._place(entry) for entry in outline.entries)
        self._taken: set[str] = set()
        for scene in sorted(scenes, key=lambda each: natural_key(each.path)):
            for slug in _slugs(scene):
                self._by_slug[slug].append(scene)
            if scene.scene_number is not None:
                self._by_number[scene.chapter, scene.scene_number].append(scene)

    def by_title(self, entry: OutlineEntry) -> str | None:
        alike = self._left(self._by_slug.get(entry.slug, ())) if entry.slug else []
        same = [scene for scene in alike if scene.scene_number == entry.number]
        return self._take(same or alike)

    def by_number(self, entry: OutlineEntry) -> str | None:
        # A number that two entries or two files have says nothing.
        place = self._place(entry)
        if entry.number is None or self._numbers[place] > 1:
            return None
        alike = self._left(self._by_number.get(place, ()))
        return self._take(alike) if len(alike) == 1 else None

    def _place(self, entry: OutlineEntry) -> _Place:
        # Where files count by chapter, so must the entry; elsewhere its chapter does not matter.
        return (entry_chapter(entry) if self._has_chapters else None), entry.number

    def _left(self, scenes: Sequence[StoryFile]) -> list[StoryFile]:
        return [scene for scene in scenes if scene.path not in self._taken]

    def _take(self, scenes: Sequence[StoryFile]) -> str | None:
        if not scenes:
            return None
        self._taken.add(scenes[0].path)
        return scenes[0].path


def entry_chapter(entry: OutlineEntry) -> int | None:
    """Return the chapter an entry of the outline stands under, if it says so."""
    chapter, _, label = numbered_title(entry.act or "")
    return chapter if label == "chapter" else None


def _slugs(scene: StoryFile) -> frozenset[str]:
    _, title, _ = numbered_title(scene.title)
    return frozenset(
        slug for text in (title, scene.title, name_from_path(scene.path)) if (slug := slug_of(text))
    )

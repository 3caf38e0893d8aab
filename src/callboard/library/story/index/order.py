"""Story order: the outline's, then by scene number, then by path. And which entry is which file."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from callboard.library.story.index.metadata import name_from_path
from callboard.library.story.index.numbers import numbered_title
from callboard.library.story.index.outline import Outline, OutlineEntry, slug_of
from callboard.library.story.model import StoryFile

_DIGITS: Final = re.compile(r"(\d+)")
_LAST: Final = 10**9


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
    anchors = sorted(
        (scene.scene_number, place[scene.path])
        for scene in numbered
        if scene.path in place and scene.scene_number is not None
    )
    return tuple(sorted(numbered, key=lambda scene: _key(scene, place, anchors)))


def _key(
    scene: StoryFile, place: Mapping[str, int], anchors: Sequence[tuple[int, int]]
) -> tuple[float, int, tuple[tuple[int, str], ...]]:
    number = _LAST if scene.scene_number is None else scene.scene_number
    if scene.path in place:
        return place[scene.path], -1, natural_key(scene.path)
    # A scene the outline forgot comes after the last outlined scene with a smaller number.
    before = [at for each, at in anchors if each < number]
    return (max(before) + 0.5 if before else -1.0), number, natural_key(scene.path)


def _with_number(scene: StoryFile, outline: Outline | None, place: Mapping[str, int]) -> StoryFile:
    if outline is None or scene.scene_number is not None or scene.path not in place:
        return scene
    return replace(scene, scene_number=outline.entries[place[scene.path]].number)


class _Free:
    """The scene files that no entry has taken yet, by title and number."""

    def __init__(self, scenes: Sequence[StoryFile], outline: Outline) -> None:
        self._by_slug: dict[str, list[StoryFile]] = defaultdict(list)
        self._by_number: dict[int, list[StoryFile]] = defaultdict(list)
        self._numbers = Counter(entry.number for entry in outline.entries)
        self._taken: set[str] = set()
        for scene in sorted(scenes, key=lambda each: natural_key(each.path)):
            for slug in _slugs(scene):
                self._by_slug[slug].append(scene)
            if scene.scene_number is not None:
                self._by_number[scene.scene_number].append(scene)

    def by_title(self, entry: OutlineEntry) -> str | None:
        alike = self._left(self._by_slug.get(entry.slug, ())) if entry.slug else []
        same = [scene for scene in alike if scene.scene_number == entry.number]
        return self._take(same or alike)

    def by_number(self, entry: OutlineEntry) -> str | None:
        # A number that two entries or two files have says nothing.
        if entry.number is None or self._numbers[entry.number] > 1:
            return None
        alike = self._left(self._by_number.get(entry.number, ()))
        return self._take(alike) if len(alike) == 1 else None

    def _left(self, scenes: Sequence[StoryFile]) -> list[StoryFile]:
        return [scene for scene in scenes if scene.path not in self._taken]

    def _take(self, scenes: Sequence[StoryFile]) -> str | None:
        if not scenes:
            return None
        self._taken.add(scenes[0].path)
        return scenes[0].path


def _slugs(scene: StoryFile) -> frozenset[str]:
    _, title, _ = numbered_title(scene.title)
    return frozenset(
        slug for text in (title, scene.title, name_from_path(scene.path)) if (slug := slug_of(text))
    )

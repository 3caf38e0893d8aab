"""A proposed outline: every beat has a scene, the numbering is right, the targets add up.

Code guarantees all of that, whoever words the scenes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.choreography.answers import Answer
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.shapes import BeatPoint, beat_points
from callboard.packs.writers_factory.model import PlannedScene

_SCENES_PER_CHAPTER: Final = 3
_MOST_SCENES: Final = 400
_MOST_BEATS: Final = 15
_TITLE_CHARS: Final = 80
_TITLE_WORDS: Final = 6


class ProposedScene(Answer):
    """A scene as a model proposes it."""

    title: str
    beat_number: int
    summary: str
    word_target: int = 0


class ProposedScenes(Answer):
    """The outline a model proposes."""

    scenes: tuple[ProposedScene, ...]


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """How big the book is to be, as far as the writer has chosen."""

    # None: nobody has said how long the book is to be.
    total_words: int | None
    scene_words: int
    scenes: int | None = None
    chapters: int | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether the writer has said how long the book is to be."""
        return self.total_words is not None or self.scenes is not None

    @property
    def scene_count(self) -> int:
        """How many scenes that makes: one for each beat, and more only if they were asked for."""
        wanted = self.scenes or round((self.total_words or 0) / max(1, self.scene_words))
        return min(_MOST_SCENES, max(len(beat_points()), wanted))

    def word_target(self, scenes: int) -> int:
        """Return how long each of so many scenes is to be."""
        if self.total_words is None:
            return self.scene_words
        return max(1, round(self.total_words / max(1, scenes)))

    def place(self, at: int, scenes: int) -> tuple[int, int]:
        """Return chapter and number of the scene at a place in the book, counted from 0."""
        if self.chapters is None:
            return at // _SCENES_PER_CHAPTER + 1, at % _SCENES_PER_CHAPTER + 1
        chapters = min(self.chapters, max(1, scenes))
        chapter = at * chapters // scenes
        first = -(-chapter * scenes // chapters)
        return chapter + 1, at - first + 1


def read_size(
    usual: PlannedSize, scenes: int | None, words: int | None, chapters: int | None
) -> PlannedSize:
    """Return the size a writer asks for; what cannot hold the beats is refused."""
    least = len(beat_points())
    if scenes is not None and not least <= scenes <= _MOST_SCENES:
        raise InvalidInput(
            f"{scenes} scenes cannot hold {least} beats"
            if scenes < least
            else f"{scenes} scenes are more than {_MOST_SCENES}",
            fix=f"Ask for {least} to {_MOST_SCENES} scenes, or send an outline of your own.",
        )
    if any(each is not None and each < 1 for each in (words, chapters)):
        raise InvalidInput("A book has at least one word and one chapter", fix="Name a number.")
    return replace(usual, total_words=words or usual.total_words, scenes=scenes, chapters=chapters)


def outline_from_beats(contents: Mapping[int, str], size: PlannedSize) -> tuple[PlannedScene, ...]:
    """Return the outline code alone can make: what a beat says stands once, the rest is open."""
    scenes: list[PlannedScene] = []
    for point, count in _spread(size.scene_count).items():
        content = " ".join(contents.get(point.number, "").split())
        scenes.append(PlannedScene(1, 1, _title(content, point), point.number, content))
        scenes += [
            PlannedScene(1, 1, f"{point.name}, open ({number} of {count})", point.number)
            for number in range(2, count + 1)
        ]
    return numbered(scenes, size)


def complete(
    proposed: Sequence[ProposedScene], contents: Mapping[int, str], size: PlannedSize
) -> tuple[tuple[PlannedScene, ...], tuple[str, ...]]:
    """Return a proposal put in order, and in words what had to be put right.

    Scenes stand in the order of their beats; a beat without a scene gets one.
    """
    notes: list[str] = []
    read = [scene for row in proposed[:_MOST_SCENES] if (scene := _read(row)) is not None]
    left_out = len(proposed) - len(read)
    if left_out:
        notes.append(f"{left_out} scenes without a title or a beat were left out")
    served = {scene.beat_number for scene in read}
    for point in beat_points():
        if point.number in served:
            continue
        content = " ".join(contents.get(point.number, "").split())
        read.append(PlannedScene(1, 1, _title(content, point), point.number, content))
        notes.append(f"beat {point.number}, {point.name}, had no scene and was given one")
    ordered = sorted(read, key=lambda scene: scene.beat_number or 0)
    return numbered(ordered, size), tuple(notes)


def numbered(scenes: Sequence[PlannedScene], size: PlannedSize) -> tuple[PlannedScene, ...]:
    """Return scenes with chapters, numbers and targets, in the order they have."""
    target = size.word_target(len(scenes))
    places = (size.place(at, len(scenes)) for at in range(len(scenes)))
    return tuple(
        replace(scene, chapter=chapter, scene=number, word_target=scene.word_target or target)
        for scene, (chapter, number) in zip(scenes, places, strict=True)
    )


def retitled(scenes: Iterable[PlannedScene], titles: Mapping[str, str]) -> tuple[PlannedScene, ...]:
    """Return scenes with other titles, by id; an empty one changes nothing."""
    return tuple(
        replace(scene, title=titles.get(scene.id, "").strip()[:_TITLE_CHARS] or scene.title)
        for scene in scenes
    )


def _spread(count: int) -> dict[BeatPoint, int]:
    """Give every beat one scene and the rest to those that take most room, the widest first."""
    points = beat_points()
    shares = {point: max(0.0, point.high_pct - point.low_pct) for point in points}
    total = sum(shares.values())
    given = dict.fromkeys(points, 1)
    extra = max(0, count - len(points))
    for point in points:
        given[point] += int(extra * shares[point] / total)
    rest = extra - sum(number - 1 for number in given.values())
    for point in sorted(points, key=lambda each: (-shares[each], each.number))[:rest]:
        given[point] += 1
    return given


def _read(row: ProposedScene) -> PlannedScene | None:
    title = " ".join(row.title.split())[:_TITLE_CHARS]
    if not title or not 1 <= row.beat_number <= _MOST_BEATS:
        return None
    words = row.word_target if 50 <= row.word_target <= 20_000 else None
    return PlannedScene(1, 1, title, row.beat_number, " ".join(row.summary.split()), words)


_LEADING_ON: Final = frozenset(
    re.findall(
        r"\w+",
        "a an the and or but of to in on at by for from with as that which who whose than into her"
        " his its their is are was were be so if not just",
    )
)


def _title(content: str, point: BeatPoint) -> str:
    first = content.split(".")[0].strip(" ,;:")
    words = first.split()
    if not words:
        return point.name
    return short_title(words, _TITLE_WORDS)[:_TITLE_CHARS]


def short_title(words: Sequence[str], count: int) -> str:
    """Return the first words of a sentence as a title, without a word that leads nowhere."""
    kept = list(words[:count])
    while len(kept) > 1 and kept[-1].strip(",;:").casefold() in _LEADING_ON:
        kept.pop()
    return " ".join(kept).rstrip(",;:")

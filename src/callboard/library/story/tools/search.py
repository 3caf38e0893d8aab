"""Search: what a task's words ask for, scene by scene and name by name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from callboard.library.story.lexicon import word_list, words_in
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import stop_words, words_of

_MOST_SCENES: Final = 500
_NUMBERED: Final = re.compile(
    r"\b(?:scenes?|chapters?|scn?|ch)\b[.\s#:-]*(?P<numbers>\d{1,4}"
    r"(?:\s*(?:-|–|—|to|through|until|and|&|,|\+)\s*(?:scenes?\s*|chapters?\s*)?\d{1,4}\b)*)",
    re.IGNORECASE,
)
_PLACED: Final = re.compile(
    r"\bch(?:apter)?[\W_]*(\d{1,4})[\W_]*sc(?:n|ene)?[\W_]*(\d{1,4})\b", re.I
)
_RANGE: Final = re.compile(r"(\d+)(?:\s*(?:-|–|—|to|through|until)\s*(?:\D{0,9}\s)?(\d+))?")
_SPLIT: Final = re.compile(r"[^\w]+|_")


@dataclass(frozen=True, slots=True)
class Criteria:
    """What is looked for: scene numbers, words, and kinds if there is nothing else."""

    text: str
    numbers: "NamedScenes"
    tokens: tuple[str, ...]
    kinds: frozenset[FileKind]

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be looked for."""
        return not (self.numbers or self.tokens or self.kinds or self.text.strip())


def read_criteria(text: str, max_tokens: int) -> Criteria:
    """Return what a text asks for; verbs of tasks and function words ask for nothing."""
    numbers = scenes_in(text)
    rest = _NUMBERED.sub(" ", _PLACED.sub(" ", text))
    ignored = stop_words() | word_list("task_words")
    words = [token for word in words_of(rest) for token in tokens_of(word)]
    kinds = frozenset(kind for kind in FileKind for word in words if _means(word, kind))
    tokens = [
        word
        for word in dict.fromkeys(words)
        if word not in ignored
        and len(word) > 1
        and not any(_means(word, kind) for kind in FileKind)
    ]
    named = frozenset[FileKind]() if tokens or numbers else kinds
    return Criteria(text, numbers, tuple(tokens[:max_tokens]), named)


def scene_numbers(text: str) -> frozenset[int]:
    """Return the scene numbers a text names: `scene 21`, `scenes 21-22`, `scenes 3, 5 and 7`."""
    return frozenset(each for hit in _NUMBERED.finditer(text) for each in _numbers(hit["numbers"]))


def _numbers(text: str) -> Iterable[int]:
    for pair in _RANGE.finditer(text):
        first = int(pair[1])
        last = int(pair[2]) if pair[2] else first
        yield from range(first, min(last, first + _MOST_SCENES) + 1)


@dataclass(frozen=True, slots=True)
class NamedScenes:
    """The scenes a text names, for files that count through the book or by chapter."""

    numbers: frozenset[int] = frozenset()
    places: frozenset[tuple[int, int]] = frozenset()
    chapters: frozenset[int] = frozenset()
    in_chapters: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        """Whether it names any."""
        return bool(self.numbers or self.places)

    def has(self, file: StoryFile) -> bool:
        """Say whether a scene is among them; a number many chapters have names all of those."""
        number = file.scene_number
        if number is None or file.chapter is None:
            return number in self.numbers
        is_meant = number in self.in_chapters or file.chapter in self.chapters
        return is_meant or (file.chapter, number) in self.places


def scenes_in(text: str) -> NamedScenes:
    """Return the scenes a text names: `scenes 3, 5 and 7`, `chapter 2, scene 1`, `ch2-sc1`."""
    places = frozenset((int(hit[1]), int(hit[2])) for hit in _PLACED.finditer(text))
    chapters, scenes = set[int](), set[int]()
    for hit in _NUMBERED.finditer(_PLACED.sub(" ", text)):
        named = chapters if hit[0].lower().startswith("ch") else scenes
        named.update(_numbers(hit["numbers"]))
    return NamedScenes(scene_numbers(text), places, frozenset(chapters), frozenset(scenes))


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the lower-cased words of a name or path, taken apart at every mark."""
    return tuple(filter(None, _SPLIT.split(text.lower())))


def _means(word: str, kind: FileKind) -> bool:
    return word in words_in("kind_words", kind.value)

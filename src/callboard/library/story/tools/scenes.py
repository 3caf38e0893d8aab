"""Scenes as tools take them: which ones are meant, and the names that occur in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from callboard.library.story.index import StoryIndex
from callboard.library.story.model import StoryFile
from callboard.library.story.text.words import words_of


@dataclass(frozen=True, slots=True)
class SceneNames:
    """Every word of the names in a scene, and whom each word of a person's name means."""

    words: frozenset[str] = frozenset()
    people: dict[str, str] = field(default_factory=dict[str, str])


def scenes_asked_for(index: StoryIndex, paths: Sequence[str]) -> tuple[StoryFile, ...]:
    """Return the scenes of some paths in the order given, or all in story order."""
    if not paths:
        return index.scenes
    return tuple(index.file(path) for path in dict.fromkeys(paths))


def names_in(index: StoryIndex, path: str) -> SceneNames:
    """Collect the names of a scene, word by word, in lower case."""
    words: set[str] = set()
    people: dict[str, str] = {}
    for mention in index.mentions(path):
        parts = words_of(mention.surface)
        words.update(parts)
        if mention.entity.kind == "character" and parts:
            people[parts[-1]] = mention.entity.name
    return SceneNames(frozenset(words), people)

"""Entities: who and what a story is about, by every name. Finds them in text.

A character, place or faction is met by its capitals; a thing that has a card is met in small
letters too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.library.story.lexicon.lists import word_list

_WORD: Final = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_APOSTROPHE: Final = re.compile(r"['’]")
_SMALL_KINDS: Final = frozenset({"item", "lore", "location", "faction"})


@dataclass(frozen=True, slots=True)
class Entity:
    """One person, place or thing; `aliases` are all its names, the canonical one first."""

    name: str
    kind: str
    aliases: tuple[str, ...]
    card: str | None = None
    occurrences: int = 0


@dataclass(frozen=True, slots=True)
class EntityHit:
    """Where an entity is named in a text."""

    entity: Entity
    start: int
    end: int
    surface: str


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity named in a sentence of a document; the place is within the sentence's text."""

    entity: Entity
    sentence: int
    start: int
    end: int
    surface: str


class Entities:
    """All entities of a project; every name belongs to one of them."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        """Take the entities; of two that share a name, the first has it."""
        self._entities = tuple(entities)
        self._by_alias: dict[str, Entity] = {}
        for entity in self._entities:
            for alias in entity.aliases:
                self._by_alias.setdefault(_key(alias), entity)

    def __iter__(self) -> Iterator[Entity]:
        """Go through the entities, those with a card first."""
        return iter(self._entities)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._entities)

    def get(self, name: str) -> Entity | None:
        """Return the entity of a name, whatever its case."""
        return self._by_alias.get(_key(name))

    def canonical(self, name: str) -> str:
        """Return the one name of whoever is meant, or the given one."""
        entity = self.get(name)
        return entity.name if entity else name

    def find(self, text: str) -> tuple[EntityHit, ...]:
        """Return every place an entity is named, the longest name first, none overlapping."""
        starts = self._starts
        if starts is None:
            return ()
        hits: list[EntityHit] = []
        end = 0
        for start in starts.finditer(text):
            if start.start() < end:
                continue
            for phrase in self._phrases.get(_straight(start[0]).lower(), ()):
                found = phrase.pattern.match(text, start.start())
                if found is not None:
                    end = found.end()
                    hits.append(EntityHit(phrase.entity, found.start(), end, found[0]))
                    break
        return tuple(hits)

    @cached_property
    def _starts(self) -> re.Pattern[str] | None:
        """One pattern for the first words of all names: it passes over most of a text."""
        exact: set[str] = set()
        small: set[str] = set()
        for phrases in self._phrases.values():
            for phrase in phrases:
                (small if phrase.is_small else exact).add(_loose(phrase.words[0]))
        kinds = ["|".join(sorted(exact))] if exact else []
        kinds += [f"(?i:{'|'.join(sorted(small))})"] if small else []
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(kinds)})(?![^\W_])") if kinds else None

    @cached_property
    def _phrases(self) -> Mapping[str, tuple["_Phrase", ...]]:
        table: dict[str, list[_Phrase]] = {}
        for alias, entity in self._by_alias.items():
            written = next(each for each in entity.aliases if _key(each) == alias)
            words = tuple(_WORD.findall(written))
            if words:
                is_small = entity.card is not None and entity.kind in _SMALL_KINDS
                is_small = is_small and alias not in word_list("stop_words")
                table.setdefault(_straight(words[0]).lower(), []).append(
                    _Phrase(words, entity, is_small)
                )
        return {
            first: tuple(sorted(phrases, key=lambda phrase: (-len(phrase.words), phrase.words)))
            for first, phrases in table.items()
        }


class _Phrase:
    __slots__ = ("entity", "is_small", "pattern", "words")

    def __init__(self, words: tuple[str, ...], entity: Entity, is_small: bool) -> None:
        self.words = words
        self.entity = entity
        self.is_small = is_small
        joined = r"[.,]?[ \u00a0\-]".join(map(_loose, words))
        self.pattern = re.compile(rf"{joined}(?![^\W_])", re.IGNORECASE if is_small else 0)


def _key(name: str) -> str:
    return " ".join(_WORD.findall(_straight(name))).lower()


def _straight(text: str) -> str:
    return text.replace("’", "'")


def _loose(word: str) -> str:
    """Return a pattern for a word whichever apostrophe it is written with."""
    return _APOSTROPHE.sub("['’]", re.escape(word))

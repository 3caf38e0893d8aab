"""Casting: the cast of a project, from its cards and from the texts at hand."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from callboard.library.story.facts.cards import card_lines, gathers_canon
from callboard.library.story.facts.cast import (
    DOUBT,
    Cast,
    Gender,
    Hit,
    gender_of_text,
    gender_told_by,
)
from callboard.library.story.index import Entity, StoryIndex
from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.text import Document

_NOT_PERSONS: Final = frozenset({"location", "item", "faction", "lore"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_PRONOUN: Final = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
# So many sentences must use one gender's pronouns of somebody who has no card.
_NEEDED: Final = 3


def cast_of(index: StoryIndex, documents: Sequence[Document]) -> Cast:
    """Return whom the given texts can speak of."""
    shared = _shared_names(index.entities)

    gathered = _gathered_names(index)

    def find_names(text: str) -> Iterable[Hit]:
        taken: list[tuple[int, int]] = []
        for hit in index.entities.find(text):
            name = f"{DOUBT}{hit.surface}" if hit.surface.lower() in shared else hit.entity.name
            taken.append((hit.start, hit.end))
            yield Hit(name, hit.start, hit.end)
        for match in gathered.finditer(text) if gathered else ():
            if not any(start < match.end() and match.start() < end for start, end in taken):
                yield Hit(match[0], match.start(), match.end())

    genders: dict[str, Gender] = {}
    for entity in index.entities:
        gender = _known_gender(index, entity)
        if gender is not None:
            genders[entity.name] = gender
    names = {entity.name: frozenset(entity.aliases) for entity in index.entities}
    no_persons = frozenset(entity.name for entity in index.entities if entity.kind in _NOT_PERSONS)
    cast = Cast(find_names, genders, no_persons, names)
    genders.update(_told_genders(cast, documents))
    return cast


def _gathered_names(index: StoryIndex) -> re.Pattern[str] | None:
    """Return what finds the names that are headings of a file that gathers the canon."""
    names = {
        heading.text
        for file in index.canon
        for heading in index.document(file.path).headings
        if gathers_canon(file.path)
        and heading.level > 1
        and index.entities.get(heading.text) is None
    }
    listed = "|".join(
        re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))
    )
    return re.compile(rf"\b(?:{listed})\b") if listed else None


def narrator_of(index: StoryIndex, path: str) -> str | None:
    """Return the entity whose point of view a scene declares."""
    pov = index.file(path).pov if index.has(path) else None
    entity = index.entities.get(pov) if pov else None
    return entity.name if entity else None


def _shared_names(entities: Iterable[Entity]) -> frozenset[str]:
    owners = Counter(alias.lower() for entity in entities for alias in set(entity.aliases))
    return frozenset(alias for alias, count in owners.items() if count > 1)


def _known_gender(index: StoryIndex, entity: Entity) -> Gender | None:
    if entity.kind in _NOT_PERSONS:
        return None
    words = [word.lower() for alias in entity.aliases for word in _WORD.findall(alias)]
    told = gender_told_by(word for word in words if word in words_in("facts", "gendered_titles"))
    if told is not None or entity.card is None:
        return told
    document = index.document(entity.card)
    for line in card_lines(document, entity.name):
        if line.key in words_in("facts", "gender_keys"):
            return _gender_value(line.value)
    return gender_of_text(document.prose)


def _gender_value(text: str) -> Gender | None:
    words = [word.lower() for word in _WORD.findall(text)]
    if {"female", "f", "feminine"}.intersection(words):
        return "female"
    if {"male", "m", "masculine"}.intersection(words):
        return "male"
    return None if "they" in words else gender_told_by(words)


def _told_genders(cast: Cast, documents: Sequence[Document]) -> dict[str, Gender]:
    """Return the genders sentences about one person agree on, for those nothing else tells of."""
    counts: dict[str, Counter[Gender]] = {}
    for document in documents:
        for sentence in document.sentences:
            text = sentence.narration
            if not _PRONOUN.search(text):
                continue
            named = {hit.name for hit in cast.find(text) if cast.may_be_person(hit.name)}
            gender = gender_of_text(text) if len(named) == 1 else None
            if gender is not None:
                counts.setdefault(named.pop(), Counter())[gender] += 1
    told: dict[str, Gender] = {}
    for name, count in counts.items():
        ((gender, times),) = count.most_common(1)
        if name not in cast.genders and times >= _NEEDED and times >= 0.85 * count.total():
            told[name] = gender
    return told

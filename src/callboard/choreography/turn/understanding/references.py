"""References: which of the things in play a message is about. By names and by pointing words.

It looks at labels only, never at content, and guesses nothing: what could be two things is told
as two things.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.vocabulary import Entity
from callboard.knowledge.entities.matching import ordinal_in, singular_words

_POINTING: Final = re.compile(
    r"\b(?:it|that|this|those|these|them|the (?:first|second|third|last|other)"
    r"|that one|this one)\b"
)
_TYPED: Final = re.compile(r"\b(?:that|this|the|those|these)(?: \w+)? (?P<noun>[a-z]+)\b")


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a message points at: one thing, several it names, or several it could mean."""

    entities: tuple[Entity, ...] = ()
    is_ambiguous: bool = False
    # The words that pointed, for the question that asks which one is meant.
    words: str = ""


def points_somewhere(message: str) -> bool:
    """Say whether a message has a word that stands for something said before."""
    return _POINTING.search(message.casefold()) is not None


def find_references(message: str, entities: Sequence[Entity], turn: int) -> Pointed:
    """Return what a message is about; `entities` come most recently mentioned first."""
    named = _named(message, entities)
    if named:
        return Pointed(named)
    folded = message.casefold()
    pointing = _POINTING.search(folded)
    if pointing is None:
        return Pointed()
    candidates = _of_type(folded, entities)
    place = ordinal_in(folded)
    if place is not None:
        row = sorted(candidates, key=lambda each: each.turn_created)
        if -len(row) <= place < len(row):
            return Pointed((row[place],), words=pointing[0])
    if not candidates:
        return Pointed(words=pointing[0])
    newest = [each for each in candidates if each.turn_last_ref == candidates[0].turn_last_ref]
    if pointing[0] in ("those", "these", "them"):
        return Pointed(tuple(newest), words=pointing[0])
    return Pointed(tuple(newest), is_ambiguous=len(newest) > 1, words=pointing[0])


def _named(message: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return what is called by its whole name, the longer names first."""
    words = singular_words(message)
    found: list[Entity] = []
    for entity in sorted(entities, key=lambda each: -len(each.label)):
        label = singular_words(entity.label)
        size = len(label)
        spans = [at for at in range(len(words) - size + 1) if words[at : at + size] == label]
        if label and spans:
            found.append(entity)
            # "Chicken Tacos" is not also "Tacos".
            for at in spans:
                words = (*words[:at], *("",) * size, *words[at + size :])
    return tuple(found)


def _of_type(folded: str, entities: Sequence[Entity]) -> list[Entity]:
    """Return what the noun after a pointing word allows: that recipe, those tasks."""
    for found in _TYPED.finditer(folded):
        for noun in singular_words(found["noun"]):
            of_noun = [each for each in entities if noun in _type_words(each)]
            if of_noun:
                return of_noun
    return list(entities)


def _type_words(entity: Entity) -> tuple[str, ...]:
    return singular_words(entity.type.replace("_", " "))

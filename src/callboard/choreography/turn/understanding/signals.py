"""Signals: what the form of a message says, what it points at, and whether a model must read it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.core.vocabulary import Entity
from callboard.knowledge.entities.matching import ordinal_in, singular_words


class FormKind(StrEnum):
    """What a message says about what was offered."""

    CONFIRM = "confirm"
    REJECT = "reject"
    DIFFERENT = "different"
    REJECT_CLASS = "reject_class"
    ALLOW_CLASS = "allow_class"
    INSTEAD = "instead"
    PICK = "pick"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Signal:
    """A clear form; `noun` is what it is about, `place` a position in a row."""

    kind: FormKind
    noun: str = ""
    place: int | None = None
    # Whether it also asks for the thing to be stored.
    wants_save: bool = False


_SAVE: Final = frozenset({"save that", "save it", "save this", "keep it", "keep that"})
_CONFIRM: Final = _SAVE | {
    "yes", "yep", "yeah", "sure", "ok", "okay", "that one", "looks good", "sounds good", "perfect",
    "do it", "go ahead", "yes please", "confirm",
}  # fmt: skip
_REJECT: Final = frozenset(
    {"no", "nope", "not that", "not that one", "something else", "none of those", "cancel",
     "none of them", "no thanks", "drop it"}
)  # fmt: skip
_DIFFERENT: Final = frozenset({"the other one", "different", "a different one", "the other"})
_UNDO: Final = frozenset({"undo", "undo that", "undo it", "undo last", "take that back"})
# What follows "no" or "not" in phrases that reject nothing.
_IDIOMS: Final = re.compile(
    r"(?:no (?:problem|rush|worries|idea|way|need|one|longer|matter|thanks?|hurry)"
    r"|not (?:now|sure|yet|really|only|bad|at all|much|quite|today)|why not)\b"
)
_REJECT_CLASS: Final = re.compile(
    r"(?:no more|not the|not|no|(?:i )?(?:don't|do not|dont) (?:want|like)(?: any)?)"
    r" (?P<noun>[\w' -]{2,40})"
)
_ALLOW_CLASS: Final = re.compile(
    r"(?P<noun>[\w' -]{2,40}?) (?:is|are) (?:fine|ok|okay|allowed) (?:again|now|after all)"
)
_INSTEAD: Final = re.compile(
    r"actually,? (?P<actually>[\w'# -]{2,60}?)(?: instead)?|(?P<other>[\w'# -]{2,60}) instead"
)
_PICK: Final = re.compile(
    r"(?:the |that |this |take |number |option |no\. ?|#)*"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last"
    r"|\d{1,2}(?:st|nd|rd|th)?)(?: one| option| recipe)?"
)
_POLITE: Final = re.compile(r"(?:,? (?:please|thanks|thank you|then|alfred))+$")
_EDGES: Final = ' \t\n.!?,;:…"“”()'
_MOST_NOUN_WORDS: Final = 4
# What is longer says more than one thing.
_LONGEST_SIGNAL: Final = 400
_PRONOUNS: Final = frozenset({"it", "that", "this", "them", "those", "these"})
_MORE_THAN_A_NOUN: Final = re.compile(
    r"\b(?:and|but|because|if|then|for|to|with|in|on|at|is|are|left)\b"
)


def detect_signal(message: str) -> Signal | None:
    """Return what a message plainly says, or None if it could mean more than one thing."""
    if len(message) > _LONGEST_SIGNAL:
        return None
    text = _plain(message)
    whole = _whole(text)
    if whole is not None:
        return whole
    if _IDIOMS.match(text) or re.match(r"(?:yes|no|yeah|nope|ok|okay),", text):
        return None
    instead = _INSTEAD.fullmatch(text)
    if instead is not None:
        noun = (instead["actually"] or instead["other"]).strip()
        if not _REJECT_CLASS.fullmatch(noun):
            return Signal(FormKind.INSTEAD, noun, ordinal_in(noun))
    allowed = _ALLOW_CLASS.fullmatch(text)
    if allowed is not None:
        return Signal(FormKind.ALLOW_CLASS, allowed["noun"])
    rejected = _REJECT_CLASS.fullmatch(text)
    if rejected is not None and rejected["noun"] in _PRONOUNS:
        return Signal(FormKind.REJECT)
    if rejected is not None and _is_noun(rejected["noun"]):
        return Signal(FormKind.REJECT_CLASS, _without_article(rejected["noun"]))
    return None


def _whole(text: str) -> Signal | None:
    bare = text.replace(",", "")
    if bare in _CONFIRM:
        return Signal(FormKind.CONFIRM, wants_save=bare in _SAVE)
    if bare in _REJECT:
        return Signal(FormKind.REJECT)
    if bare in _DIFFERENT:
        return Signal(FormKind.DIFFERENT)
    if bare in _UNDO:
        return Signal(FormKind.UNDO)
    if _PICK.fullmatch(bare):
        place = ordinal_in(bare if not bare.isdigit() else f"#{bare}")
        return None if place is None else Signal(FormKind.PICK, place=place)
    return None


def _plain(message: str) -> str:
    text = re.sub(r"\s+", " ", message.casefold().replace("’", "'")).strip(_EDGES)
    return _POLITE.sub("", text).strip(_EDGES)


def _is_noun(text: str) -> bool:
    words = text.split()
    return len(words) <= _MOST_NOUN_WORDS and not _MORE_THAN_A_NOUN.search(text)


def _without_article(noun: str) -> str:
    return re.sub(r"^(?:the|a|an|any|more)\s+", "", noun).strip()


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


_TURNING: Final = re.compile(
    r"\b(?:no|not|don't|dont|never|without|instead|actually|rather|except|but|wrong|sorry|again)\b"
)


def needs_model(message: str, *, has_pending: bool, has_open_question: bool) -> bool:
    """Say whether somebody must read a message who understands more than its form."""
    folded = message.casefold().replace("’", "'")
    return (
        has_pending
        or has_open_question
        or points_somewhere(folded)
        or _TURNING.search(folded) is not None
    )

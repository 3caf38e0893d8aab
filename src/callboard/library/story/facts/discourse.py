"""Discourse: whom a text has in mind sentence by sentence, and how sure one can be of it.

Everybody a text names gains weight, who acts more than who is only named, and loses it again with
every sentence that passes. A pronoun means whoever of its gender weighs most. People without a
name weigh as well, so that "he" after "a stranger" is nobody known.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.claims import Gender
from callboard.library.story.facts.grammar import (
    ENTITY,
    Masked,
    MaskedSentence,
    alternatives,
)
from callboard.library.story.lexicon import words_in

FEMALE: Final = frozenset({"she", "her", "hers", "herself"})
MALE: Final = frozenset({"he", "him", "his", "himself"})
FIRST_PERSON: Final = frozenset({"i", "my", "me", "mine", "myself"})
# Somebody the text does not name.
_STRANGER: Final = ""
_FADES: Final = 0.5
_FADES_AT_PARAGRAPH: Final = 0.8
_FAINTEST: Final = 0.02
_ACTS: Final = 1.0
_IS_TOLD_OF: Final = 1.2
_IS_NAMED: Final = 0.55
_OWNS: Final = 0.45
_IS_SPOKEN_OF: Final = 0.4
_STRANGER_ACTS: Final = 0.9
_STRANGER_IS_NAMED: Final = 0.3
_OPENS: Final = re.compile(
    r"(?:^[\W\d]*|[,;:—–.!?…”\"()] *(?:and |but |then |so |yet |for |when |while |as |if |that )?"
    r"|\b(?:and|but|when|while|as|if|that|because|though|where|till|until|before|after|for|so) )$",
    re.IGNORECASE,
)
_OWNED: Final = re.compile(r"['’]s?\b|['’](?= )")
# Whom a clause of their own is told of: "to Miss Thorne, who took it".
_WHO: Final = re.compile(r",? who\b")


@dataclass(frozen=True, slots=True)
class Meant:
    """Who a word stands for, and how sure that is: the share of the weight of all it may be."""

    entity: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Word:
    """A name, a pronoun or a word for a person, and where it stands."""

    start: int
    end: int
    text: str
    entity: str | None


class Discourse:
    """The people of one document in the order a reader meets them."""

    def __init__(
        self, told: Sequence[MaskedSentence], cast: Cast, *, narrator: str | None = None
    ) -> None:
        """Read the sentences once, from the first to the last."""
        self._told = told
        self._cast = cast
        self._narrator = narrator
        self._weights: dict[tuple[str, Gender | None], float] = {}
        self._meant: list[dict[int, Meant]] = []
        self._said: list[dict[int, Meant]] = []
        self._speaker: list[str | None] = []
        self._last: dict[Gender | None, str] = {}
        self._last_before: list[dict[Gender | None, str]] = []
        self._before: list[dict[tuple[str, Gender | None], float]] = []
        self._read()

    def meaning(self, index: int, place: int, word: str) -> Meant | None:
        """Return whom the first such word of a sentence's narration means, from a place on."""
        return _from(self._meant[index], self._told[index].narration.text, place, word)

    def said(self, index: int, place: int, word: str) -> Meant | None:
        """Return whom the first such word of a sentence's speech means, from a place on."""
        return _from(self._said[index], self._told[index].speech.text, place, word)

    def meant_in(self, index: int) -> Iterator[Meant]:
        """Go through whom the pronouns of a sentence most likely mean, told or spoken."""
        yield from self._meant[index].values()
        yield from self._said[index].values()

    def speaker(self, index: int) -> str | None:
        """Return who speaks in a sentence, if its paragraph says so."""
        return self._speaker[index]

    def focus(self, index: int, gender: Gender | None = None) -> Meant | None:
        """Return whom a text has in mind as a sentence begins."""
        return self._best(self._before[index], gender)

    def last_named(self, index: int, gender: Gender | None) -> str | None:
        """Return who of a gender was named last before a sentence."""
        return self._last_before[index].get(gender)

    def _read(self) -> None:
        paragraph = -1
        speaker: str | None = None
        for each in self._told:
            if each.sentence.paragraph != paragraph:
                paragraph = each.sentence.paragraph
                speaker = None
                self._fade(_FADES_AT_PARAGRAPH)
            self._fade(_FADES)
            self._before.append(dict(self._weights))
            self._last_before.append(dict(self._last))
            self._meant.append(self._narrated(each))
            speaker = self._who_says(len(self._meant) - 1, each) or speaker
            self._speaker.append(speaker)
            self._said.append(self._spoken(each.speech, speaker))

    def _fade(self, share: float) -> None:
        self._weights = {
            key: weight * share
            for key, weight in self._weights.items()
            if weight * share > _FAINTEST
        }

    def _add(self, entity: str, gender: Gender | None, weight: float) -> None:
        key = (entity, gender)
        self._weights[key] = max(self._weights.get(key, 0.0), weight) + 0.1 * weight

    def _narrated(self, each: MaskedSentence) -> dict[int, Meant]:
        found: dict[int, Meant] = {}
        text = each.narration.text
        for word in _words(each.narration):
            acts = _OPENS.search(text, max(0, word.start - 12), word.start) is not None
            lowered = word.text.lower()
            if word.entity is not None:
                self._name(word, text, acts=acts)
            elif lowered in FIRST_PERSON:
                if self._narrator is not None:
                    found[word.start] = Meant(self._narrator, 1.0)
            elif lowered in FEMALE or lowered in MALE:
                gender: Gender = "female" if lowered in FEMALE else "male"
                meant = self._best(self._weights, gender)
                if meant is not None:
                    found[word.start] = meant
                    weight = _ACTS if acts else _OWNS
                    self._add(meant.entity, self._gender(meant.entity), weight * meant.confidence)
            else:
                told = _gender_of(lowered)
                self._add(_STRANGER, told, _STRANGER_ACTS if acts else _STRANGER_IS_NAMED)
        return found

    def _name(self, word: _Word, text: str, *, acts: bool) -> None:
        entity = word.entity or ""
        if not self._cast.may_be_person(entity):
            return
        gender = self._gender(entity)
        if not Cast.is_certain(entity):
            self._add(_STRANGER, gender, _ACTS if acts else _IS_NAMED)
            return
        self._last[gender] = self._last[None] = entity
        is_owner = _OWNED.match(text, word.end) is not None
        weight = _OWNS if is_owner else _ACTS if acts else _IS_NAMED
        if _WHO.match(text, word.end) is not None:
            weight = _IS_TOLD_OF
        self._add(entity, gender, weight)

    def _spoken(self, speech: Masked, speaker: str | None) -> dict[int, Meant]:
        found: dict[int, Meant] = {}
        if not speech.text.strip():
            return found
        others = {key: weight for key, weight in self._weights.items() if key[0] != speaker}
        for word in _words(speech):
            lowered = word.text.lower()
            if word.entity is not None:
                if Cast.is_certain(word.entity) and self._cast.may_be_person(word.entity):
                    gender = self._gender(word.entity)
                    self._add(word.entity, gender, _IS_SPOKEN_OF)
                    if word.entity != speaker:
                        others[word.entity, gender] = _ACTS
            elif lowered in FIRST_PERSON:
                if speaker:
                    found[word.start] = Meant(speaker, 0.9)
            elif lowered in FEMALE or lowered in MALE:
                meant = self._best(others, "female" if lowered in FEMALE else "male")
                if meant is not None:
                    found[word.start] = meant
            else:
                others[_STRANGER, _gender_of(lowered)] = _STRANGER_ACTS
        return found

    def _who_says(self, index: int, each: MaskedSentence) -> str | None:
        if not each.sentence.has_dialogue:
            return None
        text = each.narration.text
        for match in _tag().finditer(text):
            who = match["who"] or match["whom"]
            if re.fullmatch(ENTITY, who):
                entity = each.narration.mentions[each.narration.number_at(who)].entity
                return entity if Cast.is_certain(entity) else None
            start = match.start("who") if match["who"] else match.start("whom")
            meant = self._meant[index].get(start)
            return meant.entity if meant is not None and meant.entity else None
        return None

    def _gender(self, entity: str) -> Gender | None:
        return self._cast.gender(entity)

    @staticmethod
    def _best(
        weights: dict[tuple[str, Gender | None], float], gender: Gender | None
    ) -> Meant | None:
        """Return who weighs most, unless that is nobody known."""
        fitting = [
            (weight, key[0])
            for key, weight in weights.items()
            if gender is None or key[1] == gender or (key[1] is None and key[0] == _STRANGER)
        ]
        if not fitting:
            return None
        best = max(fitting)
        if best[1] == _STRANGER:
            return None
        return Meant(best[1], round(best[0] / sum(weight for weight, _ in fitting), 3))


def _from(found: dict[int, Meant], text: str, place: int, word: str) -> Meant | None:
    lowered = word.lower()
    for start, meant in found.items():
        if start >= place and text[start : start + len(word)].lower() == lowered:
            return meant
    return None


def _words(masked: Masked) -> Iterator[_Word]:
    for match in _person_or_pronoun().finditer(masked.text):
        is_name = re.fullmatch(ENTITY, match[0]) is not None
        entity = masked.mentions[masked.number_at(match[0])].entity if is_name else None
        yield _Word(match.start(), match.end(), match[0], entity)


@cache
def _person_or_pronoun() -> re.Pattern[str]:
    pronouns = alternatives(FEMALE | MALE | (FIRST_PERSON - {"i"}))
    persons = alternatives(_stranger_words())
    return re.compile(
        rf"{ENTITY}|\bI\b|\b(?i:{pronouns})\b"
        rf"|(?<=\b[Aa] )(?:[a-z-]+ ){{0,2}}?(?:{persons})\b|(?<=\ban )(?:[a-z-]+ )?(?:{persons})\b"
        rf"|(?<=\b[Tt]he )(?:[a-z-]+ ){{0,2}}?(?:{persons})\b"
    )


@cache
def _stranger_words() -> frozenset[str]:
    return words_in("facts", "persons") - words_in("people", "epithets")


@cache
def _gender_of(text: str) -> Gender | None:
    word = text.split()[-1]
    if word in words_in("facts", "female_words"):
        return "female"
    return "male" if word in words_in("facts", "male_words") else None


@cache
def _tag() -> re.Pattern[str]:
    says = alternatives(words_in("facts", "speech_verbs"))
    who = rf"{ENTITY}|\b(?:[Hh]e|[Ss]he|I)\b"
    return re.compile(
        rf"\b(?:{says}) (?P<whom>{ENTITY}|he\b|she\b|I\b)|(?P<who>{who})(?: [a-z]+ly)? (?:{says})\b"
    )

"""Pronouns: who "he" is, and only where there can be no doubt.

A pronoun stands for somebody when one person is named in its paragraph, at most two sentences
before and on the same page, nobody else is spoken of in between, and nothing known of that person
speaks against it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.cast import Cast, Gender
from callboard.library.story.facts.grammar import ENTITY, Masked, kin_words, person_words
from callboard.library.story.lexicon import words_in
from callboard.library.story.text import Sentence, stop_words

_REACH_SENTENCES: Final = 2
# In sentences that fill a page nobody can be sure who is still meant.
_REACH_CHARS: Final = 1_500
FEMALE: Final = frozenset({"she", "her", "hers", "herself"})
MALE: Final = frozenset({"he", "him", "his", "himself"})
FIRST_PERSON: Final = frozenset({"i", "my"})
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_SIGN: Final = re.compile(ENTITY)
_CAPITALISED: Final = re.compile(r"(?<![.!?…:“\"‘'«—–-] )(?<!^)\b[A-Z][\w’'-]+")
_FIRST_WORD: Final = re.compile(r"^[^\w]*([A-Z][\w’'-]+)")


@dataclass(frozen=True, slots=True)
class MaskedSentence:
    """A sentence as the extractor reads it: what is narrated and what is spoken, names masked."""

    sentence: Sentence
    narration: Masked
    speech: Masked

    @property
    def text(self) -> str:
        """What the narrator says."""
        return self.narration.text


class Pronouns:
    """The pronouns of one document."""

    def __init__(
        self,
        told: Sequence[MaskedSentence],
        cast: Cast,
        *,
        narrator: str | None,
        known_words: frozenset[str],
    ) -> None:
        """Take the masked sentences; `known_words` occur in lower case somewhere."""
        self._told = told
        self._cast = cast
        self._narrator = narrator
        self._known_words = known_words
        self._persons: dict[int, set[str]] = {}
        for each in told:
            named = self._persons.setdefault(each.sentence.paragraph, set())
            named.update(
                mention.entity
                for mention in (*each.narration.mentions, *each.speech.mentions)
                if cast.may_be_person(mention.entity)
            )

    def meaning(self, index: int, pronoun: str, place: int) -> str | None:
        """Return whom a pronoun of a sentence's narration stands for, or None if it may be two."""
        if pronoun in FIRST_PERSON:
            return self._narrator
        wanted: Gender = "female" if pronoun in FEMALE else "male"
        named = self._nearby(index, place, wanted)
        if not named and pronoun in ("he", "she"):
            return self._carried_over(index, place, wanted)
        if len(named) != 1:
            return None
        (entity,) = named
        between = self._since_mention(index, place, entity)
        if between is None:
            return None
        if self._has_strangers(_without_self_descriptions(between), wanted):
            return None
        return entity if self._fits(entity, pronoun, between) else None

    def _carried_over(self, index: int, place: int, wanted: Gender) -> str | None:
        """Return who a paragraph goes on about that opens with "he" or "she"."""
        each = self._told[index]
        if index == 0 or _WORD.search(each.text, 0, place):
            return None
        if self._told[index - 1].sentence.paragraph == each.sentence.paragraph:
            return None
        before = index - 1
        named = self._nearby(before, len(self._told[before].text), wanted)
        if len(named) != 1:
            return None
        (entity,) = named
        text = self._told[before].text
        if self._cast.gender(entity) != wanted or self._has_strangers(text, wanted):
            return None
        return entity

    def _nearby(self, index: int, place: int, wanted: Gender) -> set[str]:
        """Return who of a gender is named in reach before a place, in one paragraph."""
        here = self._told[index].sentence.paragraph
        found: set[str] = set()
        for at in range(index, max(index - _REACH_SENTENCES, 0) - 1, -1):
            each = self._told[at]
            if each.sentence.paragraph != here:
                break
            until = place if at == index else len(each.text)
            for hit in _SIGN.finditer(each.text, 0, until):
                entity = each.narration.mentions[each.narration.number_at(hit[0])].entity
                gender = self._cast.gender(entity)
                if self._cast.may_be_person(entity) and gender in (None, wanted):
                    found.add(entity)
        return found

    def other_of(self, index: int, entity: str, pronoun: str) -> str | None:
        """Return whose kin somebody is: "Mira, his sister" in a paragraph of two people."""
        if pronoun in FIRST_PERSON:
            return self._narrator
        here = self._told[index]
        others = self._persons.get(here.sentence.paragraph, set[str]()) - {entity}
        if len(others) != 1:
            return None
        (other,) = others
        gender = self._cast.gender(other)
        text = _without_self_descriptions(here.text)
        rest = re.sub(rf"\b(?:{kin_words()})\b", "", text)
        if self._has_strangers(rest):
            return None
        return other if gender == ("female" if pronoun in FEMALE else "male") else None

    def _since_mention(self, index: int, place: int, entity: str) -> str | None:
        """Return the narration from the sentence of the latest mention up to the pronoun."""
        text = ""
        for at in range(index, max(index - _REACH_SENTENCES, 0) - 1, -1):
            each = self._told[at]
            if each.sentence.paragraph != self._told[index].sentence.paragraph:
                return None
            until = place if at == index else len(each.text)
            if until + len(text) > _REACH_CHARS:
                return None
            text = each.text[:until] + " " + text
            if any(
                each.narration.mentions[each.narration.number_at(hit[0])].entity == entity
                for hit in _SIGN.finditer(each.text, 0, until)
            ):
                return text
        return None

    def _has_strangers(self, text: str, wanted: Gender | None = None) -> bool:
        if any(_may_be(hit[0], wanted) for hit in _stranger_words().finditer(text)):
            return True
        if any(
            hit[0] != "I" and not hit[0].startswith("I’") for hit in _CAPITALISED.finditer(text)
        ):
            return True
        return any(
            self._may_be_name(hit[1])
            for sentence in re.split(r"(?<=[.!?…]) +", text)
            if (hit := _FIRST_WORD.match(sentence))
        )

    def _may_be_name(self, word: str) -> bool:
        lowered = word.lower().replace("’", "'")
        return not (
            lowered in self._known_words
            or lowered in stop_words()
            or lowered.endswith(("ly", "ing", "'s", "'d", "'ll"))
        )

    def _fits(self, entity: str, pronoun: str, between: str) -> bool:
        wanted = "female" if pronoun in FEMALE else "male"
        gender = self._cast.gender(entity)
        if gender is not None:
            return gender == wanted
        used = {word.lower() for word in _WORD.findall(between)}
        against = MALE if wanted == "female" else FEMALE
        return not used & against


def _may_be(word: str, wanted: Gender | None) -> bool:
    """Say whether a word for a person may be somebody of a gender."""
    if wanted is None:
        return True
    against = "male_words" if wanted == "female" else "female_words"
    return word.lower() not in words_in("facts", against)


def _without_self_descriptions(text: str) -> str:
    """Take out the person a sentence says somebody is: "Kael was a tall man"."""
    return _self_description().sub(" ", text)


@cache
def _self_description() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{ENTITY},?|\b[Hh]e|\b[Ss]he)(?: who)?(?: was| is| had been)? (?:an?|the) "
        rf"(?:[a-z-]+,? ){{0,5}}?(?:{person_words()})\b"
    )


@cache
def _stranger_words() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{person_words()}|{kin_words()}|they|them|their)\b", re.IGNORECASE)

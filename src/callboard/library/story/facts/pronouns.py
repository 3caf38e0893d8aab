"""Pronouns: who "he" is, and only where there can be no doubt.

A pronoun stands for somebody when one person is named in its paragraph, at most two sentences
before and on the same page, nobody else is spoken of in between, and nothing known of that person
speaks against it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.claims import Gender
from callboard.library.story.facts.grammar import ENTITY, MaskedSentence, kin_words, person_words
from callboard.library.story.lexicon import words_in
from callboard.library.story.text import stop_words

_REACH_SENTENCES: Final = 2
# In sentences that fill a page nobody can be sure who is still meant.
_REACH_CHARS: Final = 1_500
FEMALE: Final = frozenset({"she", "her", "hers", "herself"})
MALE: Final = frozenset({"he", "him", "his", "himself"})
FIRST_PERSON: Final = frozenset({"i", "my"})
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_SIGN: Final = re.compile(ENTITY)
# Where a clause begins, and what follows whoever acts in it.
_ACTS: Final = re.compile(r"(?:^\W*|[,;:—] (?:and |but |then |so )?|\b(?:and|but|while|when|as) )$")
_VERB_NEXT: Final = re.compile(r",? (?:who )?[a-z]+(?:ed|s|d|t|w|n|k|e)\b")
_CAPITALISED: Final = re.compile(r"(?<![.!?…:“\"‘'«—–-] )(?<!^)\b[A-Z][\w’'-]+")
_FIRST_WORD: Final = re.compile(r"^[^\w]*([A-Z][\w’'-]+)")


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
        goes_on = self._goes_on(index, place, wanted)
        if goes_on is not None:
            return self.meaning(*goes_on)
        named = self._nearby(index, place, wanted)
        if not named and pronoun in ("he", "she"):
            return self._carried_over(index, place, wanted) or self._only_one(index, wanted)
        if len(named) > 1:
            return self._topic(index, place, wanted)
        if not named:
            return None
        (entity,) = named
        between = self._since_mention(index, place, entity)
        if between is None:
            return None
        if self._has_strangers(_without_self_descriptions(between), wanted):
            return None
        return entity if self._fits(entity, pronoun, between) else None

    def _only_one(self, index: int, wanted: Gender) -> str | None:
        """Return who a long paragraph opened with, if it names nobody else of that gender."""
        here = self._told[index].sentence.paragraph
        first = index
        named: set[str] = set()
        while first > 0 and self._told[first - 1].sentence.paragraph == here:
            first -= 1
            names = self._names(first, wanted, len(self._told[first].text))
            named.update(entity for _, entity in names)
        opened = self._names(first, wanted, len(self._told[first].text))
        if len(named) > 2 or not opened or _WORD.search(self._told[first].text, 0, opened[0][0]):
            return None
        topic = opened[0][1]
        owners = named - {topic}
        is_owner = all(self._is_owner(first, index, owner) for owner in owners)
        return topic if is_owner and self._cast.gender(topic) == wanted else None

    def _is_owner(self, first: int, last: int, entity: str) -> bool:
        """Say whether somebody is only named for what they own: "at Mrs. Goddard's school"."""
        for each in self._told[first:last]:
            for hit in _SIGN.finditer(each.text):
                named = each.narration.mentions[each.narration.number_at(hit[0])].entity
                if named == entity and each.text[hit.end() : hit.end() + 2] not in ("'s", "’s"):
                    return False
        return True

    def _goes_on(self, index: int, place: int, wanted: Gender) -> tuple[int, str, int] | None:
        """Return the "he" or "she" that a pronoun goes on from: the subject before it."""
        opened = self._opening(index, wanted)
        if opened is not None and opened[1] < place:
            return None if self._names(index, wanted, place) else (index, *opened)
        if opened is None or index == 0 or self._names(index, wanted, place):
            return None
        before = self._told[index - 1]
        if before.sentence.paragraph != self._told[index].sentence.paragraph:
            return None
        earlier = self._opening(index - 1, wanted)
        return (index - 1, *earlier) if earlier is not None else None

    def _opening(self, index: int, wanted: Gender) -> tuple[str, int] | None:
        """Return the pronoun of a gender that is the first word of a sentence."""
        first = _WORD.search(self._told[index].text)
        word = first[0].lower() if first is not None else ""
        if first is None or word != ("she" if wanted == "female" else "he"):
            return None
        return word, first.start()

    def _names(self, index: int, wanted: Gender, until: int) -> list[tuple[int, str]]:
        """Return who of a gender a sentence names before a place, and where.

        Whose house it is counts only where nobody else is named.
        """
        each = self._told[index]
        found: list[tuple[int, str]] = []
        owners: list[tuple[int, str]] = []
        for hit in _SIGN.finditer(each.text, 0, until):
            entity = each.narration.mentions[each.narration.number_at(hit[0])].entity
            if self._cast.may_be_person(entity) and self._cast.gender(entity) in (None, wanted):
                is_owner = each.text[hit.end() : hit.end() + 2] in ("'s", "’s")
                (owners if is_owner else found).append((hit.start(), entity))
        return found or owners

    def _topic(self, index: int, place: int, wanted: Gender) -> str | None:
        """Return whom a paragraph is about, where others are named in it as well.

        It opened with them, and they are the last whose doing was told of before.
        """
        if self._opening(index, wanted) is None or index == 0:
            return None
        here = self._told[index].sentence.paragraph
        first = index
        while first > 0 and self._told[first - 1].sentence.paragraph == here:
            first -= 1
        opened = self._names(first, wanted, len(self._told[first].text))
        if first == index or not opened or _WORD.search(self._told[first].text, 0, opened[0][0]):
            return None
        before = self._told[index - 1]
        acting = [
            entity
            for at, entity in self._names(index - 1, wanted, len(before.text))
            if _ACTS.search(before.text[:at]) and _VERB_NEXT.match(before.text, at + 1)
        ]
        topic = opened[0][1]
        is_certain = self._cast.gender(topic) == wanted and Cast.is_certain(topic)
        return topic if acting and acting[-1] == topic and is_certain else None

    def _carried_over(self, index: int, place: int, wanted: Gender) -> str | None:
        """Return who a paragraph goes on about that opens with "he" or "she"."""
        each = self._told[index]
        if index == 0 or _WORD.search(each.text, 0, place):
            return None
        if self._told[index - 1].sentence.paragraph == each.sentence.paragraph:
            return None
        before = index - 1
        opened = self._opening(before, wanted)
        if opened is not None:
            return self.meaning(before, *opened)
        paragraph = self._told[before].sentence.paragraph
        named: set[str] = set()
        text = ""
        while before >= 0 and self._told[before].sentence.paragraph == paragraph:
            told = self._told[before].text
            named.update(entity for _, entity in self._names(before, wanted, len(told)))
            text = f"{told} {text}"
            before -= 1
        if len(named) != 1 or len(text) > _REACH_CHARS:
            return None
        (entity,) = named
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
            found.update(entity for _, entity in self._names(at, wanted, until))
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

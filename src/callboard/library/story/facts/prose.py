"""Prose: the claims of a text, sentence by sentence, each with the words it rests on.

Refuses whatever the narrator does not vouch for; what characters say is kept apart, and so is what
is said of somebody who is only likely to be meant.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final

from callboard.library.story.facts.ages import find_ages
from callboard.library.story.facts.bodies import find_bodies
from callboard.library.story.facts.cards import said_of_owner
from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.claims import Attribute, FactClaim, FoundClaim, KinOf
from callboard.library.story.facts.deaths import find_deaths
from callboard.library.story.facts.discourse import Discourse
from callboard.library.story.facts.grammar import (
    ENTITY,
    Masked,
    MaskedSentence,
    is_subject_or_owner,
    is_vouched_for,
    looks_back,
    mask,
    tells_change,
)
from callboard.library.story.facts.holders import FOCUS, LAST_NAMED
from callboard.library.story.facts.households import find_households
from callboard.library.story.facts.lives import find_lives, find_ties
from callboard.library.story.facts.looks import find_looks
from callboard.library.story.facts.pronouns import Pronouns
from callboard.library.story.facts.skills import find_callings, find_skills
from callboard.library.story.text import Document

_FINDERS: Final = (
    find_looks,
    find_bodies,
    find_ages,
    find_lives,
    find_deaths,
    find_ties,
    find_skills,
    find_callings,
    find_households,
)
# Those that know words for people in general; the others find nothing where nobody is named.
_GENERAL_FINDERS: Final = (find_looks, find_ages)
_SOMEBODY: Final = re.compile(rf"{ENTITY}|\b(?i:he|she|i|his|hers?|him|my|mine|me)\b")
_TOPICS: Final = {
    Attribute.EYES: "eyes",
    Attribute.HAIR: "hair",
    Attribute.HAND: "hand",
    Attribute.RANK: "rank",
    Attribute.AGE: "age",
    Attribute.DEATH: "death",
    Attribute.SPECIES: "species",
}
_LOWER_WORD: Final = re.compile(r"(?<![\w’'])[a-z][a-z’'-]+")
# How much of the weight somebody must have to be who a pronoun means.
_LEAST_SURE: Final = 0.6
_LONG_PAST: Final = re.compile(
    r"\b(?:years?|months|weeks) (?:ago|before|earlier|since)\b|\blong ago\b|\bin those days\b"
    r"|\bback then\b|\bas an? (?:boy|girl|child|lad|young (?:man|woman))\b|\bat the time\b"
)
_SURE_IN_SPEECH: Final = 0.6
_LIE: Final = re.compile(
    r"\b(?:deceived|lied|lying|lie|pretended|pretending|joked|joking|boasted|who wasn['’]t"
    r"|who was not|for the benefit of|untruthfully|falsely|teased|mocked)\b"
)


@dataclass(frozen=True)
class ProseReading:
    """A document with its names masked, ready to be asked for claims and deeds."""

    document: Document
    told: tuple[MaskedSentence, ...]
    cast: Cast
    narrator: str | None = None

    @cached_property
    def pronouns(self) -> Pronouns:
        """Whom the pronouns of its sentences surely mean."""
        words = _LOWER_WORD.findall(self.document.prose)
        known = frozenset(word.replace("’", "'") for word in words)
        return Pronouns(self.told, self.cast, narrator=self.narrator, known_words=known)

    @cached_property
    def discourse(self) -> Discourse:
        """Whom its sentences have in mind, and most likely mean."""
        return Discourse(self.told, self.cast, narrator=self.narrator)

    @cached_property
    def checked_chars(self) -> int:
        """How many characters of prose were read."""
        return sum(len(each.sentence.text) for each in self.told)

    @property
    def is_cut(self) -> bool:
        """Whether the document goes on behind what was read."""
        return len(self.told) < len(self.document.sentences)

    def claims(self) -> tuple[FactClaim, ...]:
        """Return everything the text claims, in its order; a sentence claims a thing once."""
        return tuple(claim for claim in self._claims if not claim.is_guess)

    def likely_claims(self) -> tuple[FactClaim, ...]:
        """Return the claims, and those of whoever a pronoun or a word of kin most likely means."""
        return self._claims

    @cached_property
    def _claims(self) -> tuple[FactClaim, ...]:
        found: dict[tuple[object, ...], FactClaim] = {}
        for index, each in enumerate(self.told):
            for claim in (*self._narrated(index, each), *self._spoken(index, each)):
                if not Cast.is_certain(claim.entity) or not Cast.is_certain(claim.other or ""):
                    continue
                key = (claim.subject, claim.value.text, claim.quote.line_start, claim.quote.text)
                if key not in found:
                    found[key] = claim
        return tuple(found.values())

    def context(self, index: int, before: int = 1) -> str:
        """Return a sentence's narration with that of the sentences before it in its paragraph."""
        here = self.told[index].sentence.paragraph
        nearby = self.told[max(0, index - before) : index + 1]
        return " ".join(each.sentence.text for each in nearby if each.sentence.paragraph == here)

    def _narrated(self, index: int, each: MaskedSentence) -> Iterator[FactClaim]:
        beside = each.sentence.has_dialogue
        for found in _find(each.narration):
            if not found.is_vouched and not is_vouched_for(
                each.narration.text,
                found.start,
                found.end,
                beside_speech=beside,
                says_no=found.says_no,
            ):
                continue
            entity, is_guess = self._who(index, each.narration, found)
            other = self._whom(index, each.narration, found, entity)
            if entity is not None and (found.whom is None or other is not None):
                claim = self._claim(index, each, found, entity, other, is_spoken=False)
                yield replace(claim, is_guess=True, is_reckoned=True) if is_guess else claim

    def _spoken(self, index: int, each: MaskedSentence) -> Iterator[FactClaim]:
        if not each.speech.text.strip() or _is_lie(each.narration.text):
            return
        for found in _find(each.speech):
            if isinstance(found.whom, str):
                continue
            if found.is_vouched or is_vouched_for(
                each.speech.text, found.start, found.end, says_no=found.says_no
            ):
                entity = self._whom_said(index, each, found)
                if entity is None:
                    continue
                other = None if found.whom is None else each.speech.mentions[found.whom].entity
                claim = self._claim(index, each, found, entity, other, is_spoken=True)
                is_named = isinstance(found.who, int)
                yield claim if is_named else replace(claim, is_guess=True, is_reckoned=True)

    def _whom_said(self, index: int, each: MaskedSentence, found: FoundClaim) -> str | None:
        """Return whom a claim in speech is about: somebody named, or the speaker."""
        if isinstance(found.who, int):
            return each.speech.mentions[found.who].entity
        if not found.is_vouched or found.who_at is None:
            return None
        if isinstance(found.who, KinOf):
            owner = self._in_speech(index, each, found.who.owner, found.who.at)
            return f"{owner}’s {found.who.word}" if owner else None
        return (
            None
            if found.who in FOCUS or found.who in LAST_NAMED
            else self._in_speech(index, each, found.who, found.who_at)
        )

    def _in_speech(
        self, index: int, each: MaskedSentence, who: int | str, place: int
    ) -> str | None:
        if isinstance(who, int):
            return each.speech.mentions[who].entity
        meant = self.discourse.said(index, place, who)
        return meant.entity if meant and meant.confidence >= _SURE_IN_SPEECH else None

    def _claim(
        self,
        index: int,
        each: MaskedSentence,
        found: FoundClaim,
        entity: str,
        other: str | None,
        *,
        is_spoken: bool,
    ) -> FactClaim:
        context = self.context(index, 0 if found.is_vouched else 1)
        is_past = _LONG_PAST.search(self.context(index, 2)) is not None or looks_back(context)
        back = is_past if found.is_vouched else self._is_past(index)
        topic = _TOPICS.get(found.attribute, "any")
        own = self._beside(each, found) if found.attribute is Attribute.AGE else context
        # What a clause says outright, the sentence before takes back only in so many words.
        changes = tells_change(own, topic) or (
            found.attribute is not Attribute.AGE
            and tells_change(self.context(index), topic, outright=True)
        )
        return FactClaim(
            entity=entity,
            attribute=found.attribute,
            value=found.value,
            quote=self.document.quote(each.sentence),
            other=other,
            is_spoken=is_spoken,
            tells_change=changes,
            looks_back=back or self.document.front.get("flashback") is True,
            confidence=found.confidence,
            topic=found.topic,
            is_guess=found.is_guess,
        )

    @staticmethod
    def _beside(each: MaskedSentence, found: FoundClaim) -> str:
        """Return what a sentence says besides a claim: its own words tell no change."""
        text = each.narration.text
        return f"{text[: found.start]} {text[found.end :]}"

    def _who(self, index: int, masked: Masked, found: FoundClaim) -> tuple[str | None, bool]:
        """Return whom a claim is about, and whether that is only the likeliest."""
        who = found.who
        place = found.start if found.who_at is None else found.who_at
        if isinstance(who, KinOf):
            owner, _ = self._person(index, masked, who.owner, who.at)
            return (f"{owner}’s {who.word}" if owner else None), True
        return self._person(index, masked, who, place)

    def _person(
        self, index: int, masked: Masked, who: int | str, place: int
    ) -> tuple[str | None, bool]:
        if isinstance(who, int):
            return masked.mentions[who].entity, False
        if who in LAST_NAMED:
            return self.discourse.last_named(index, LAST_NAMED[who]), True
        if who not in FOCUS:
            meant = self.pronouns.meaning(index, who, place)
            if meant is not None:
                return meant, False
        guessed = (
            self.discourse.focus(index, FOCUS[who])
            if who in FOCUS
            else self.discourse.meaning(index, place, who)
        )
        is_sure = guessed is not None and guessed.confidence >= _LEAST_SURE
        return (guessed.entity if guessed and is_sure else None), True

    def _whom(
        self, index: int, masked: Masked, found: FoundClaim, entity: str | None
    ) -> str | None:
        if found.whom is None or entity is None:
            return None
        if isinstance(found.whom, int):
            return masked.mentions[found.whom].entity
        return self.pronouns.other_of(index, entity, found.whom)

    def _is_past(self, index: int) -> bool:
        return self.document.front.get("flashback") is True or looks_back(self.context(index, 2))


def read(
    document: Document,
    cast: Cast,
    *,
    narrator: str | None = None,
    about: str | None = None,
    most_chars: int | None = None,
) -> ProseReading:
    """Mask the names of a document; `narrator` is who says "I", if that is known.

    What says nobody's name is of `about`, the owner of a card: "Only child. Has green eyes."

    Of a longer text the sentences that begin within `most_chars` of prose are read.
    """
    sentences = document.sentences
    if most_chars is not None:
        begins = accumulate((len(each.text) for each in sentences), initial=0)
        sentences = tuple(
            each for each, begin in zip(sentences, begins, strict=False) if begin < most_chars
        )
    told = tuple(
        MaskedSentence(
            sentence,
            _masked(sentence.narration, cast, about),
            _masked(sentence.dialogue if sentence.has_dialogue else "", cast),
        )
        for sentence in sentences
    )
    return ProseReading(document, told, cast, narrator)


def _is_lie(narration: str) -> bool:
    """Say whether the narrator tells that what is said is not so."""
    return _LIE.search(narration) is not None


def mentions_change(document: Document, names: frozenset[str], attribute: Attribute) -> bool:
    """Say whether a text can tell a change at all: cheaper than reading it."""
    prose = document.prose
    return any(name in prose for name in names) and tells_change(
        prose, _TOPICS.get(attribute, "any")
    )


def _masked(text: str, cast: Cast, about: str | None = None) -> Masked:
    found = mask(text, cast.find(text)) if text.strip() else Masked(text, ())
    if about is None or found.mentions or not text.strip():
        return found
    return said_of_owner(text.strip(), about)


def _find(masked: Masked) -> Iterable[FoundClaim]:
    finders = _FINDERS if _SOMEBODY.search(masked.text) else _GENERAL_FINDERS
    return (
        found
        for find in finders
        for found in find(masked)
        if found.is_vouched or is_subject_or_owner(masked.text, found.start)
    )

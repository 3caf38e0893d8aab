"""Prose: the claims and deeds of a text, sentence by sentence, each with the words it rests on.

Refuses whatever the narrator does not vouch for; what characters say is kept apart. A deed is what
is told of here and now: not in a memory, a dream, a picture, a wish or a past perfect.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Final

from callboard.library.story.facts.ages import find_ages
from callboard.library.story.facts.bodies import find_bodies, find_looks
from callboard.library.story.facts.cards import said_of_owner
from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.claims import Attribute, FactClaim, FoundClaim
from callboard.library.story.facts.deaths import find_deaths
from callboard.library.story.facts.grammar import (
    ENTITY,
    Masked,
    MaskedSentence,
    alternatives,
    is_subject_or_owner,
    is_vouched_for,
    looks_back,
    mask,
    tells_change,
)
from callboard.library.story.facts.households import find_households
from callboard.library.story.facts.lives import find_lives, find_ties
from callboard.library.story.facts.pronouns import Pronouns
from callboard.library.story.facts.skills import find_callings, find_skills
from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Quote
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
_PERSONAL: Final = re.compile(r"\b(?:I|my|he|his|she|her)\b", re.IGNORECASE)
# A deed inside one of these clauses need not be of this hour.
_ELSEWHEN: Final = re.compile(
    r"\b(?:had|would|used to|once|whenever|when|before|after|since|if|as if|as though|because|where"
    r"|what|how|why|that|who|which|the way)\b[^,;:—]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ProseReading:
    """A document with its names masked, ready to be asked for claims and deeds."""

    document: Document
    told: tuple[MaskedSentence, ...]
    pronouns: Pronouns

    @property
    def checked_chars(self) -> int:
        """How many characters of prose were read."""
        return sum(len(each.sentence.text) for each in self.told)

    @property
    def is_cut(self) -> bool:
        """Whether the document goes on behind what was read."""
        return len(self.told) < len(self.document.sentences)

    def claims(self) -> tuple[FactClaim, ...]:
        """Return everything the text claims, in its order; a sentence claims a thing once."""
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
            if not is_vouched_for(
                each.narration.text,
                found.start,
                found.end,
                beside_speech=beside,
                says_no=found.says_no,
            ):
                continue
            entity = self._who(index, each.narration, found.who, found.start)
            other = self._whom(index, each.narration, found, entity)
            if entity is not None and (found.whom is None or other is not None):
                yield self._claim(index, each, found, entity, other, is_spoken=False)

    def _spoken(self, index: int, each: MaskedSentence) -> Iterator[FactClaim]:
        if not each.speech.mentions:
            return
        for found in _find(each.speech):
            if isinstance(found.who, str) or isinstance(found.whom, str):
                continue
            if is_vouched_for(each.speech.text, found.start, found.end, says_no=found.says_no):
                entity = each.speech.mentions[found.who].entity
                other = None if found.whom is None else each.speech.mentions[found.whom].entity
                yield self._claim(index, each, found, entity, other, is_spoken=True)

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
        context = self.context(index)
        return FactClaim(
            entity=entity,
            attribute=found.attribute,
            value=found.value,
            quote=self.document.quote(each.sentence),
            other=other,
            is_spoken=is_spoken,
            tells_change=tells_change(context, _TOPICS.get(found.attribute, "any")),
            looks_back=self._is_past(index),
            confidence=found.confidence,
            topic=found.topic,
        )

    def _who(self, index: int, masked: Masked, who: int | str, place: int) -> str | None:
        if isinstance(who, int):
            return masked.mentions[who].entity
        return self.pronouns.meaning(index, who, place)

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
    known = frozenset(word.replace("’", "'") for word in _LOWER_WORD.findall(document.prose))
    pronouns = Pronouns(told, cast, narrator=narrator, known_words=known)
    return ProseReading(document, told, pronouns)


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
    if not masked.mentions and not _PERSONAL.search(masked.text):
        return ()
    return (
        found
        for find in _FINDERS
        for found in find(masked)
        if is_subject_or_owner(masked.text, found.start)
    )


@dataclass(frozen=True, slots=True)
class Deed:
    """Somebody does or says something, with the words that tell it."""

    entity: str
    is_speech: bool
    quote: Quote
    index: int


def deeds_of(reading: ProseReading, entities: frozenset[str]) -> Iterator[Deed]:
    """Yield what the narrator tells these entities to do or say, in order."""
    for index, told in enumerate(reading.told):
        masked = told.narration
        if not any(mention.entity in entities for mention in masked.mentions):
            continue
        if looks_back(_surroundings(reading, index)):
            continue
        for match, is_speech in _matches(masked.text, beside_speech=told.sentence.has_dialogue):
            entity = masked.mentions[masked.number_at(match["who"])].entity
            if entity in entities:
                yield Deed(entity, is_speech, reading.document.quote(told.sentence), index)


def _matches(text: str, *, beside_speech: bool) -> Iterator[tuple[re.Match[str], bool]]:
    for pattern, is_speech in _patterns(beside_speech=beside_speech):
        for match in pattern.finditer(text):
            if _ELSEWHEN.search(text[: match.start()]):
                continue
            if is_vouched_for(text, match.start(), match.end(), beside_speech=True):
                yield match, is_speech


def _surroundings(reading: ProseReading, index: int) -> str:
    """Return the paragraph of a sentence and the one before it: where a memory would begin."""
    here = reading.told[index].sentence.paragraph
    nearby = (
        each.sentence.text
        for each in reading.told[max(0, index - 12) : index + 6]
        if each.sentence.paragraph in (here - 1, here)
    )
    return " ".join(nearby)


@cache
def _patterns(*, beside_speech: bool) -> tuple[tuple[re.Pattern[str], bool], ...]:
    speech = alternatives(words_in("facts", "speech_verbs"))
    deeds = alternatives(words_in("facts", "deed_verbs"))
    adverb = r"(?: [a-z]+ly| then| only| just| also)?"
    # Somebody's hand or voice may be somebody else's memory; only the name itself acts.
    acting = re.compile(
        rf"(?:^|[.,;:!?”\"—–]\s*|\b(?:and|but|then|so) )\W*(?P<who>{ENTITY}){adverb} (?:{deeds})\b"
    )
    if not beside_speech:
        return ((acting, False),)
    saying = re.compile(rf"(?P<who>{ENTITY}){adverb} (?:{speech})\b(?! (?:of|about|to have)\b)")
    # Only straight after the speech: "Kael told Mira" is not Mira speaking.
    said = re.compile(rf"(?:^\s*|\s{{3,}})(?:{speech}) (?P<who>{ENTITY})(?!['’])")
    return ((saying, True), (said, True), (acting, False))

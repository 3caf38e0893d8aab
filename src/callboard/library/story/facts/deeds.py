"""Deeds: who does or says something in a text, here and now.

Not in a memory, a dream, a picture, a wish or a past perfect; what may be said of the dead as well
("she was loved") is no deed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from callboard.library.story.facts.grammar import ENTITY, alternatives, is_vouched_for, looks_back
from callboard.library.story.facts.prose import ProseReading
from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Quote

# A deed inside one of these clauses need not be of this hour.
_ELSEWHEN: Final = re.compile(
    r"\b(?:had|would|used to|once|whenever|when|before|after|since|if|as if|as though|because|where"
    r"|what|how|why|that|who|which|the way)\b[^,;:—]*$",
    re.IGNORECASE,
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
    statives = alternatives(words_in("people", "statives"))
    adverb = r"(?: [a-z]+ly| then| only| just| also)?"
    # Somebody's hand or voice may be somebody else's memory; only the name itself acts.
    acting = re.compile(
        rf"(?:^|[.,;:!?”\"—–]\s*|\b(?:and|but|then|so) )\W*(?P<who>{ENTITY}){adverb}"
        rf"(?:, [^,;:.—{ENTITY[1:-1]}]{{3,60}},)? (?:{deeds}|{speech}|(?!{statives})[a-z]{{3,}}ed"
        r"|was seen to|is (?:[a-z]+ly )?[a-z]+ing|was (?:[a-z]+ly )?[a-z]+ing)\b"
    )
    if not beside_speech:
        return ((acting, False),)
    saying = re.compile(rf"(?P<who>{ENTITY}){adverb} (?:{speech})\b(?! (?:of|about|to have)\b)")
    # Only straight after the speech: "Kael told Mira" is not Mira speaking.
    said = re.compile(rf"(?:^\s*|\s{{3,}})(?:{speech}) (?P<who>{ENTITY})(?!['’])")
    return ((saying, True), (said, True), (acting, False))

"""Passages: the sentences of a book that speak to a matter, and whom or what they may speak of.

Who is meant is taken widely: names, whoever a pronoun most likely stands for, and whoever a
paragraph is about. Nothing is decided here.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.facts.cards import card_lines
from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.claims import Gender
from callboard.library.story.facts.comparison import Gathering
from callboard.library.story.facts.discourse import FEMALE, MALE
from callboard.library.story.facts.prose import ProseReading
from callboard.library.story.lexicon import families_in, words_in
from callboard.library.story.model import Quote
from callboard.library.story.pairs.matters import (
    DEATH,
    LOSS,
    Told,
    bare_counts,
    of_things,
    topics_in,
)
from callboard.library.story.text import Document
from callboard.library.story.text.words import content_words, stem, words_of

# How sure one is that somebody is meant who is not named.
_MEANT: Final = 0.4
_SURELY_MEANT: Final = 0.5
_SPEAKS: Final = 0.5
_FOCUS: Final = 0.35
_BESIDE: Final = 0.3
# Named outright, and how sure a family name alone is.
_NAMED: Final = 1.0
_OF_THE_FAMILY: Final = 0.7
# "his wife": as sure as whose wife is meant, and a little less; below this nobody's kin is meant.
_KIN: Final = 0.9
_WHOSE: Final = 0.5
# Whoever tells the story, where nobody says who that is.
NARRATOR: Final = "?I"
_TELLS: Final = 0.9
# Up to so many stems a sentence is about one thing.
_SHORT_STEMS: Final = 6
_LONG_STEMS: Final = 20
_WINDOW_CHARS: Final = 320
_FIRST_PERSON: Final = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]yself)\b")
_CAPITAL: Final = re.compile(r"(?<=[a-z,;’'\"“] )[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with what it speaks to, of whom, and how much of the text is shown with it."""

    path: str
    # Where its document stands in the book, and the sentence in its document.
    place: int
    number: int
    quote: Quote
    shown: str
    told: tuple[Told, ...]
    # Whoever may be meant, and how sure that is.
    people: tuple[tuple[str, float], ...]
    # The stems that say something, without names.
    stems: frozenset[str]
    # Words with a capital that are nobody's name: places, mostly.
    places: frozenset[str] = frozenset()
    is_canon: bool = False
    is_spoken: bool = False


class Rarity:
    """How telling a stem is in a book: the rarer, the more."""

    def __init__(self, passages: Sequence[Statement]) -> None:
        """Count in how many passages each stem stands."""
        self.counts: Counter[str] = Counter()
        for passage in passages:
            self.counts.update(passage.stems)
        self._all = max(2, len(passages))

    def weight(self, stem: str) -> float:
        """Return how telling one stem is."""
        return math.log(self._all / (1 + self.counts[stem])) / math.log(self._all)

    def shared(self, first: Statement, second: Statement) -> float:
        """Return how telling the stems of two passages are together."""
        # Exact whatever the order: a set has another one in every process, and rounding follows it.
        return math.fsum(self.weight(stem) for stem in first.stems & second.stems)


def brevity(passage: Statement) -> float:
    """How much a sentence is about any one thing: the longer, the less."""
    return 1.0 / (1.0 + max(0, len(passage.stems) - _SHORT_STEMS) / _LONG_STEMS)


def passages_of(gathering: Gathering, document: Document, place: int) -> tuple[Statement, ...]:
    """Return the sentences of a text that speak to any matter, in their order."""
    if not document.is_english:
        return ()
    reading = gathering.reading(document)
    return tuple(_passages(reading, document, place))


def card_passages(gathering: Gathering, document: Document, place: int) -> tuple[Statement, ...]:
    """Return the lines and sentences of a card, said of its owner."""
    owner = gathering.owner(document.path)
    found: list[Statement] = []
    for number, line in enumerate(card_lines(document, owner)):
        text = f"{line.key} {line.value}"
        quote = document.quote(line.line)
        told = topics_in(_as_sentence(line.key, line.value))
        found.append(_card(document, place, number, quote, told, line.entity, text))
    for number, sentence in enumerate(document.sentences, start=len(found)):
        told = topics_in(sentence.text)
        quote = document.quote(sentence)
        found.append(_card(document, place, number, quote, told, owner, sentence.text))
    return tuple(each for each in found if each.told)


def _as_sentence(key: str, value: str) -> str:
    return f"age of {value}" if key == "age" else f"{key}: {value}"


def _card(
    document: Document,
    place: int,
    number: int,
    quote: Quote,
    told: tuple[Told, ...],
    owner: str,
    text: str,
) -> Statement:
    stems = frozenset(map(stem, content_words(text)))
    places = frozenset(_CAPITAL.findall(text))
    shown = f"{owner}: {quote.text}"
    people = tuple(_with_kin({owner: 1.0}, text).items())
    return Statement(
        document.path, place, number, quote, shown, told, people, stems, places, is_canon=True
    )


def _passages(reading: ProseReading, document: Document, place: int) -> Iterator[Statement]:
    for number, each in enumerate(reading.told):
        sentence = each.sentence
        before = reading.told[number - 1].sentence.text if number else ""
        told = (
            *topics_in(sentence.text),
            *bare_counts(sentence.text, before),
            *_fates(sentence.text),
            of_things(sentence.text),
        )
        people = _with_kin(_people(reading, number), sentence.text)
        names = " ".join(name.text for name in (*each.narration.mentions, *each.speech.mentions))
        own = frozenset(words_of(names))
        yield Statement(
            document.path,
            place,
            number,
            document.quote(sentence),
            _shown(reading, number),
            told,
            tuple(people.items()),
            frozenset(map(stem, content_words(sentence.text) - own)),
            frozenset(_CAPITAL.findall(sentence.text)) - frozenset(names.split()),
            is_spoken=sentence.has_dialogue,
        )


def _fates(text: str) -> Iterator[Told]:
    words = frozenset(words_of(text))
    is_left = any(words & said for said in families_in("matters", "left_behind").values())
    if is_left or words & words_in("matters", "deaths"):
        yield Told(DEATH, frozenset({"dead"}), 1.0)
    elif words & words_in("matters", "death_hints"):
        yield Told(DEATH, frozenset(), 0.5)
    if words & words_in("matters", "losses"):
        yield Told(LOSS, frozenset({"lost"}), 1.0)


def _people(reading: ProseReading, number: int) -> dict[str, float]:
    each = reading.told[number]
    found: dict[str, float] = {}

    def add(name: str, sure: float) -> None:
        if name and Cast.is_certain(name):
            found[name] = max(found.get(name, 0.0), sure)
        family = name.split()[-1] if " " in name else ""
        if family and sure >= _NAMED:
            found[family] = max(found.get(family, 0.0), _OF_THE_FAMILY)

    for name, sure in _named(reading, number):
        add(name, sure)
    if not found and _FIRST_PERSON.search(each.sentence.narration):
        found[NARRATOR] = _TELLS
    if not found:
        found |= {f"?{who}": _BESIDE for who in sorted(_nobody(each.sentence.text))}
    for near in (number - 1, number + 1):
        if 0 <= near < len(reading.told):
            for mention in reading.told[near].narration.mentions:
                add(mention.entity, _BESIDE)
    return found


def _named(reading: ProseReading, number: int) -> Iterator[tuple[str, float]]:
    """Go through whom a sentence names, means, lets speak or has in mind, with how sure that is."""
    each = reading.told[number]
    for mention in (*each.narration.mentions, *each.speech.mentions):
        yield mention.entity, _NAMED
    for meant in reading.discourse.meant_in(number):
        yield meant.entity, _MEANT + _SURELY_MEANT * meant.confidence
    speaker = reading.discourse.speaker(number)
    if speaker:
        yield speaker, _SPEAKS
    genders: tuple[Gender, ...] = ("female", "male")
    for gender in genders:
        focus = reading.discourse.focus(number, gender)
        if focus is not None:
            yield focus.entity, _FOCUS


def _with_kin(people: dict[str, float], text: str) -> dict[str, float]:
    """Add whoever goes by what they are to one of these people: "her father", "his widow"."""
    words = frozenset(words_of(text))
    kin = families_in("matters", "kin")
    left = families_in("matters", "left_behind")
    found = dict(people)
    for name, said in kin.items():
        if words & (said | left.get(name, frozenset())):
            for who, sure in people.items():
                if sure >= _WHOSE:
                    found[f"{name} of {who}"] = sure * _KIN
    return found


def _nobody(text: str) -> frozenset[str]:
    """Return the pronouns of a sentence that stand for nobody known."""
    words = frozenset(words_of(text))
    return frozenset("he" if pronoun in MALE else "she" for pronoun in words & (MALE | FEMALE))


def _shown(reading: ProseReading, number: int) -> str:
    """Return a sentence with its neighbours, as far as they are short."""
    here = reading.told[number].sentence
    before = reading.told[number - 1].sentence.text if number else ""
    last = number + 1 == len(reading.told)
    after = "" if last else reading.told[number + 1].sentence.text
    parts = [before[-_WINDOW_CHARS:], here.text, after[:_WINDOW_CHARS]]
    return " ".join(part for part in parts if part)

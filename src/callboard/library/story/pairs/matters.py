"""Matters: what a sentence speaks to, by the words in it. Catches widely and decides nothing.

A topic is one thing two sentences may disagree about: eyes, an age, a home. A value is what a
sentence says of it, as far as words tell; most say none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from callboard.library.story.facts.values import NUMBER, ORDINAL, number_of
from callboard.library.story.lexicon import families_in, words_in
from callboard.library.story.text.words import stem, stop_words, words_of

AGE: Final = "age"
COUNT: Final = "count"
DEATH: Final = "death"
LOSS: Final = "loss"
NAME: Final = "name"
THING: Final = "thing"
DENIED: Final = "not"
_NUMBER: Final = re.compile(rf"(?<![\w'’-])({NUMBER})(?![\w])", re.IGNORECASE)
_AGE: Final = re.compile(
    rf"\b(?:aged?|at|of|turned|turning|nearly|almost|barely|about|scarcely|hardly|was|is|be|been"
    rf"|being|i['’]m|he['’]s|she['’]s|see|than|over|past|only|not|just|for|and|under|to|made|short"
    rf"|entered|sixty)\W+(?:(?:her|his|my|a|an|the|far|yet|of|short|about|nearly|now|than|girl|man"
    rf"|boy|woman|old|hale|brisk)\W+){{0,3}}(?P<n>{NUMBER}|{ORDINAL})(?P<odd>-odd)?"
    rf"(?=\W*(?:$|[.,;:!?—–)”\"]|years?\b|or\b|and\b|again\b|in\b|when\b|birthday\b|now\b|this\b"
    rf"|last\b|next\b|old\b|she\b|he\b|i\b|at\b|one\b|that\b|then\b|but\b|by\b|before\b|though\b|with\b))"
    rf"|(?P<m>{NUMBER})[ -](?:years?|year)[ -](?:old|of age|in the world)"
    rf"|(?P<o>{NUMBER}|{ORDINAL}) (?:birthday|year\b)|\b(?P<t>{NUMBER})-odd\b"
    rf"|, (?P<c>{NUMBER}),",
    re.IGNORECASE,
)
_AGE_WORDS: Final = re.compile(
    r"\b(?:years old|years of age|birthday|aged|teens|twenties|thirties|forties|fifties|sixties"
    r"|seventies|eighties|middle-aged|elderly)\b",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(
    rf"(?<![\w'’-])(?P<n>{NUMBER}|several|a dozen|dozens|hundreds|thousands|both|only)"
    rf"(?P<big>[ -]+(?:hundred|thousand|million)(?: and {NUMBER})?)?"
    rf"[ -]+(?:of (?:the|his|her|their) )?(?:[a-z]+(?:ed|ing|er|est|en|y|le|d|ng|l|t) )?"
    rf"(?P<noun>[a-z]{{3,}}|a year)",
    re.IGNORECASE,
)
# "the six of us", "There were twenty-two.": what was counted stands in the sentence before.
_BARE: Final = re.compile(
    rf"(?<![\w'’-])(?P<n>{NUMBER}) of (?:them|us|you)\b"
    rf"|\b(?:was|were|are|is) (?P<m>{NUMBER})\s*[.,;]",
    re.IGNORECASE,
)
# "limited the number of their servants to three"
_COUNTED_AFTER: Final = re.compile(
    rf"\b(?P<noun>[a-z]{{3,}}s|children|men|people) (?:to|were|are|numbered)"
    rf" (?P<n>{NUMBER})(?![\w-])",
    re.IGNORECASE,
)
_PLURAL: Final = re.compile(r"\b[a-z]{3,}s\b|\bchildren\b|\bpeople\b|\bmen\b", re.IGNORECASE)
_US: Final = re.compile(r"\bof us\b", re.IGNORECASE)
# The months that are also words.
_MONTH: Final = re.compile(
    r"\b((?:of|in|early|late|last|next|since|by|this) )(May|March)\b"
    r"|\b()(May|March)(?= (?:\d|the \w+th))"
)
_ORDINAL: Final = re.compile(ORDINAL, re.IGNORECASE)
# Topics that numbers are values of, and how many words away a value may stand.
_NUMBERED: Final = frozenset({"kin", "span", "clock", "distance", "floor", "mark"})
_REACH: Final = 5
_LOOSELY: Final = 0.3
_NOT_ABLE: Final = re.compile(r"\b(could|can|had|has|have) not\b", re.IGNORECASE)
# What every number in words or figures has; most sentences have none of it.
_MAY_COUNT: Final = re.compile(
    r"\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twel|teen|ty\b|ty-|hundred"
    r"|several|dozen|thousand|both|only|first|second|third|fifth|aged|birthday|elderly|ties\b",
    re.IGNORECASE,
)
_REMEMBERED: Final = 50_000
_YOUNGEST: Final = 3
_OLDEST: Final = 105


class Matter(StrEnum):
    """What two passages may contradict each other about."""

    AGE = "age"
    LOOKS = "looks"
    FAMILY = "family"
    DEATH = "death"
    TIME = "time"
    PLACE = "place"
    POSSESSION = "possession"
    NAME = "name"
    SKILL = "skill"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Told:
    """What a sentence says of one topic: its values, and how plainly it speaks to it."""

    topic: str
    values: frozenset[str]
    weight: float


def matter_of(topic: str) -> Matter:
    """Return the matter a topic belongs to."""
    return _matters().get(topic.partition("/")[0], Matter.NUMBER)


@lru_cache(maxsize=_REMEMBERED)
def topics_in(text: str) -> tuple[Told, ...]:
    """Return what a sentence speaks to, with the values that stand beside the words for it.

    A sentence that did not change is not read again as long as the process lives.
    """
    words = words_of(_MONTH.sub(r"\1\2\3\4-month", _NOT_ABLE.sub(r"\1n't", text)))
    roots = [stem(word) for word in words]
    known = _spoken()
    hits: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        for topic in known.get(word) or known.get(roots[at]) or ():
            hits.setdefault(topic, []).append(at)
    found = [_told(topic, places, words, roots) for topic, places in hits.items()]
    if _MAY_COUNT.search(text):
        found += _aged(text)
        found += _counted(text)
    return tuple(found)


def _told(topic: str, places: list[int], words: tuple[str, ...], roots: list[str]) -> Told:
    near: set[str] = set()
    for at in places:
        near.update(words[max(0, at - _REACH) : at + _REACH + 1])
        near.update(roots[max(0, at - _REACH) : at + _REACH + 1])
    values = {value for value, says in _values().get(topic, {}).items() if says & near}
    if topic in _NUMBERED:
        values |= {str(number) for word in near if (number := _reckoned(word)) is not None}
    plain = 1.0 if values else 0.4
    if near & _denials():
        values.add(DENIED)
        plain = max(plain, 0.8)
    if all(words[at] in words_in("matters", "loose") for at in places):
        plain *= _LOOSELY
    return Told(topic, frozenset(values), plain + 0.1 * min(len(places), 3))


@cache
def _reckoned(word: str) -> int | None:
    if not _NUMBER.fullmatch(word) and not _ORDINAL.fullmatch(word):
        return None
    return number_of(word)


def _aged(text: str) -> list[Told]:
    values: set[str] = set()
    for match in _AGE.finditer(text):
        said = next((each for key, each in match.groupdict().items() if each and key != "odd"), "")
        number = number_of(said)
        if number is not None and _YOUNGEST <= number <= _OLDEST:
            values.add(str(number))
    if values:
        return [Told(AGE, frozenset(values), 1.3 if _AGE_WORDS.search(text) else 1.0)]
    return [Told(AGE, frozenset(), 0.6)] if _AGE_WORDS.search(text) else []


def _counted(text: str) -> list[Told]:
    found: dict[str, set[str]] = {}
    for match in _COUNTED.finditer(text):
        number = number_of(match["n"])
        if number == 1 and not match["big"]:
            continue
        value = str(number) if number is not None else match["n"].lower()
        if match["big"]:
            value += " ".join(match["big"].lower().split())
        for noun in _counted_as(match["noun"].lower(), bool(match["big"])):
            found.setdefault(noun, set()).add(value)
    for match in _COUNTED_AFTER.finditer(text):
        for noun in _counted_as(match["noun"].lower(), is_sum=False):
            found.setdefault(noun, set()).add(str(number_of(match["n"])))
    return [Told(f"{COUNT}/{noun}", frozenset(values), 0.9) for noun, values in found.items()]


def of_things(text: str) -> Told:
    """Return whether a sentence denies something of the things it names."""
    denies = not _denials().isdisjoint(words_of(text))
    return Told(THING, frozenset({DENIED}) if denies else frozenset(), 0.5)


def bare_counts(text: str, before: str) -> tuple[Told, ...]:
    """Return what a number without a noun may count: the things the sentence before speaks of."""
    if not _MAY_COUNT.search(text):
        return ()
    numbers = {str(number_of(match["n"] or match["m"])) for match in _BARE.finditer(text)}
    if not numbers:
        return ()
    nouns = ["people"] if _US.search(text) else _PLURAL.findall(f"{before} {text}")
    topics = {topic for noun in nouns for topic in _counted_as(noun.lower(), is_sum=False)}
    return tuple(Told(f"{COUNT}/{topic}", frozenset(numbers), 0.7) for topic in sorted(topics))


def _counted_as(noun: str, is_sum: bool) -> tuple[str, ...]:
    if is_sum and noun not in stop_words() and number_of(noun) is None:
        return ("money", stem(noun))
    if is_sum or noun in {"pounds", "dollars", "a year", "shillings", "guineas", "francs", "euros"}:
        return ("money",)
    if noun in {"girls", "daughters", "sons", "boys", "children", "sisters", "brothers", "kids"}:
        return ("children", stem(noun))
    if noun in {
        "men",
        "people",
        "persons",
        "souls",
        "hands",
        "passengers",
        "women",
        "dead",
        "crew",
    }:
        return ("people", stem(noun))
    is_idle = noun in stop_words() or noun in words_in("matters", "uncounted")
    return () if is_idle or number_of(noun) is not None else (stem(noun),)


@cache
def _matters() -> Mapping[str, Matter]:
    found = {
        topic: Matter(matter)
        for matter, topics in families_in("matters", "matters").items()
        for topic in topics
    }
    return found | {
        AGE: Matter.AGE,
        DEATH: Matter.DEATH,
        LOSS: Matter.POSSESSION,
        THING: Matter.POSSESSION,
        NAME: Matter.NAME,
        COUNT: Matter.NUMBER,
    }


@cache
def _spoken() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for topic, words in families_in("matters", "speaks").items():
        for word in words:
            found.setdefault(word, set()).add(topic)
            found.setdefault(stem(word), set()).add(topic)
    return {word: tuple(sorted(topics)) for word, topics in found.items()}


@cache
def _values() -> Mapping[str, Mapping[str, frozenset[str]]]:
    return {
        topic: families_in("matters", f"says_{topic}") for topic in words_in("matters", "valued")
    }


@cache
def _denials() -> frozenset[str]:
    return words_in("matters", "denials")

"""Terminology: one term written in two ways, each more than once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz.distance import OSA

from callboard.library.story.index.names import is_given_name
from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text import Document, stop_words
from callboard.library.story.tools.consistency.occurrences import Occurrences, WordPlace, collect
from callboard.library.story.tools.report import make_finding

TOOL: Final = "consistency_checker"
# "re-sent" and "resent" are two words; so may be others with these in front.
_PREFIXES: Final = frozenset(re.findall(r"\w+", "re co un a de pre ex non"))
_INFLECTIONS: Final = ("s", "es", "n", "an", "ian", "ish", "ese", "ite", "y", "e", "i", "d", "r")


@dataclass(frozen=True, slots=True)
class TermRules:
    """When two forms are held against each other."""

    min_each: int = 2
    name_min_letters: int = 5
    rare_share: float = 0.34


@dataclass(frozen=True, slots=True)
class _Form:
    text: str
    places: Sequence[WordPlace]


def find_terminology(
    documents: Sequence[Document],
    *,
    own_names: frozenset[str],
    rules: TermRules,
) -> list[StoryFinding]:
    """Return the terms of these files that are written in two ways; `own_names` have cards."""
    found = collect(documents, stop_words())
    pairs: list[tuple[str, _Form, _Form]] = [
        *_spellings(found),
        *_compounds(found),
        *_capitals(found),
        *_names(found, own_names, rules),
    ]
    findings: list[StoryFinding] = []
    told: set[frozenset[str]] = set()
    for reason, first, second in pairs:
        key = frozenset((first.text.lower(), second.text.lower(), first.text, second.text))
        if key in told or min(len(first.places), len(second.places)) < rules.min_each:
            continue
        told.add(key)
        findings.append(_finding(documents, reason, first, second))
    return findings


def _finding(documents: Sequence[Document], reason: str, one: _Form, other: _Form) -> StoryFinding:
    common, rare = sorted((one, other), key=lambda form: -len(form.places))
    first = common.places[0]
    second = next((place for place in rare.places if place != first), first)
    places = dict.fromkeys((first, second))
    quotes = tuple(documents[place.file].quote(place.sentence) for place in places)
    return make_finding(
        TOOL,
        "Terminology",
        Severity.MINOR,
        f"“{common.text}” ({len(common.places)} times) is also written “{rare.text}” "
        f"({len(rare.places)} times): {reason}.",
        quotes,
        suggestion=f"Write “{common.text}” everywhere, or “{rare.text}”.",
        confidence=0.7,
    )


def _spellings(found: Occurrences) -> Iterator[tuple[str, _Form, _Form]]:
    for pair in sorted(words_in("facts", "spellings")):
        first, second = pair.split("/")
        yield (
            "two spellings",
            _Form(first, _any_case(found, first)),
            _Form(second, _any_case(found, second)),
        )


def _compounds(found: Occurrences) -> Iterator[tuple[str, _Form, _Form]]:
    hyphenated = {word.lower() for word in (*found.words, *found.opening_words) if "-" in word}
    for word in sorted(hyphenated):
        parts = word.split("-")
        if len(parts) != 2 or parts[0] in _PREFIXES or min(map(len, parts)) < 2:
            continue
        closed = "".join(parts)
        yield (
            "with and without a hyphen",
            _Form(word, _any_case(found, word)),
            _Form(closed, _any_case(found, closed)),
        )
        opened = " ".join(parts)
        if not stop_words().intersection(parts):
            yield (
                "with and without a hyphen",
                _Form(word, found.noun_pairs.get(word, ())),
                _Form(opened, found.noun_pairs.get(opened, ())),
            )


def _capitals(found: Occurrences) -> Iterator[tuple[str, _Form, _Form]]:
    for pair in sorted(found.the_pairs):
        first, second = pair.split(" ")
        if not (first[0].isupper() and second[0].isupper()):
            continue
        small = found.the_pairs.get(pair.lower(), ())
        yield (
            "with and without capitals",
            _Form(pair, found.the_pairs[pair]),
            _Form(pair.lower(), small),
        )
        closed = first + second.lower()
        yield (
            "in one word and in two",
            _Form(pair, found.the_pairs[pair]),
            _Form(closed, found.words.get(closed, ())),
        )


def _names(
    found: Occurrences, own_names: frozenset[str], rules: TermRules
) -> Iterator[tuple[str, _Form, _Form]]:
    names = sorted(
        word
        for word in found.words
        if word[0].isupper()
        and word[1:].islower()
        and len(word) >= (4 if word in own_names else rules.name_min_letters)
        and not _is_ordinary(found, word)
    )
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            if second[0] != first[0] and OSA.distance(first[1:], second[1:]):
                continue
            if OSA.distance(first, second, score_cutoff=1) != 1:
                continue
            if _is_one_name(found, first, second, own_names, rules):
                yield (
                    "one letter apart",
                    _Form(first, found.words[first]),
                    _Form(second, found.words[second]),
                )


def _is_ordinary(found: Occurrences, word: str) -> bool:
    return word.lower() in found.words or word.lower() in stop_words()


def _is_one_name(
    found: Occurrences, first: str, second: str, own_names: frozenset[str], rules: TermRules
) -> bool:
    """Say whether two names a letter apart look like one: never both known, never together."""
    if first in own_names and second in own_names:
        return False
    if are_inflections(first, second):
        return False
    if is_given_name(first) and is_given_name(second):
        return False
    one, other = found.words[first], found.words[second]
    if {_key(place) for place in one} & {_key(place) for place in other}:
        return False
    fewer, more = sorted((len(one), len(other)))
    apart = not {place.file for place in one} & {place.file for place in other}
    return apart or fewer <= more * rules.rare_share


def are_inflections(first: str, second: str) -> bool:
    """Say whether one word is the other with an ending: "Morlock" and "Morlocks"."""
    short, long = sorted((first.lower(), second.lower()), key=len)
    return any(short + ending == long for ending in _INFLECTIONS) or (
        re.sub(r"[aeo]$", "", short) == re.sub(r"[aeo]$", "", long) and len(short) == len(long)
    )


def _key(place: WordPlace) -> tuple[int, int]:
    return place.file, place.sentence.paragraph


def _any_case(found: Occurrences, word: str) -> list[WordPlace]:
    forms: Iterable[str] = (word, word.capitalize())
    return [
        place
        for form in forms
        for place in (*found.words.get(form, ()), *found.opening_words.get(form, ()))
    ]

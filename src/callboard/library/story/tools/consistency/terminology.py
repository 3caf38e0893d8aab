"""Terminology: one term written in two ways, each more than once."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz.distance import OSA

from callboard.library.story.index.names import is_given_name
from callboard.library.story.lexicon import words_in
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text import Document, Sentence, stop_words
from callboard.library.story.tools.report import make_finding

_TOKEN: Final = re.compile(
    r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*(?:['’][^\W\d_]+)?|\d+|[.,;:!?…—–()“”\"]"
)
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ARTICLES: Final = frozenset(
    re.findall(r"\w+", "the a an his her my their our your its this that every each no another")
)
TOOL: Final = "consistency_checker"
# "re-sent" and "resent" are two words; so may be others with these in front.
_PREFIXES: Final = frozenset(re.findall(r"\w+", "re co un a de pre ex non"))
_INFLECTIONS: Final = ("s", "es", "n", "an", "ian", "ish", "ese", "ite", "y", "e", "i", "d", "r")


@dataclass(frozen=True, slots=True)
class WordPlace:
    """One sentence of one file."""

    file: int
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark as written, and whether a sentence or a speech opens with it."""

    text: str
    opens: bool

    @property
    def is_word(self) -> bool:
        """Whether it is a word."""
        return self.text[0].isalpha()


@dataclass
class Occurrences:
    """Where each form stands: single words, and pairs of words that follow each other."""

    documents: Sequence[Document]
    # As written; a word that only opens a sentence is not held against its capital.
    words: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    opening_words: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    # "drawing-room" and "drawing room" where an article comes before and no noun can follow.
    noun_pairs: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))
    # "Time Machine" and "time machine" after "the".
    the_pairs: dict[str, list[WordPlace]] = field(default_factory=lambda: defaultdict(list))

    def count(self, word: str) -> int:
        """Return how often a word stands where its capital letter is its own."""
        return len(self.words.get(word, ()))


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the words and marks of a sentence; possessive endings are taken off."""
    opens = True
    for hit in _TOKEN.finditer(text):
        told = hit[0]
        if told[0].isalpha():
            yield Token(_POSSESSIVE.sub("", told), opens)
            opens = False
        else:
            yield Token(told, False)
            opens = opens or told in '.!?…“"—–:'


def collect(documents: Sequence[Document], followers: frozenset[str]) -> Occurrences:
    """Walk all sentences once; `followers` are the words that can come after a noun."""
    found = Occurrences(documents)
    for number, document in enumerate(documents):
        for sentence in document.sentences:
            _take(found, WordPlace(number, sentence), list(tokens_of(sentence.text)), followers)
    return found


def _take(
    found: Occurrences, place: WordPlace, tokens: list[Token], followers: frozenset[str]
) -> None:
    for at, token in enumerate(tokens):
        if not token.is_word:
            continue
        listed = found.opening_words if token.opens else found.words
        listed[token.text].append(place)
        before = tokens[at - 1].text.lower() if at else ""
        if before not in _ARTICLES:
            continue
        _take_nouns(found, place, tokens[at : at + 3], before, followers)


def _take_nouns(
    found: Occurrences,
    place: WordPlace,
    tokens: list[Token],
    before: str,
    followers: frozenset[str],
) -> None:
    first, second, third = (*tokens, None, None, None)[:3]
    if first is None:
        return
    if "-" in first.text and _ends_noun(second, followers):
        found.noun_pairs[first.text.lower()].append(place)
    if second is None or not second.is_word:
        return
    pair = f"{first.text} {second.text}"
    if _ends_noun(third, followers):
        found.noun_pairs[pair.lower()].append(place)
    # Before another capital it is a title or a part of a longer name.
    if before == "the" and not (third and third.text[0].isupper()):
        found.the_pairs[pair].append(place)


def _ends_noun(token: Token | None, followers: frozenset[str]) -> bool:
    return token is None or not token.is_word or token.text in followers


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

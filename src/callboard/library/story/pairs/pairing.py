"""Pairing: which passages of a book could contradict each other, the likeliest first.

Passages meet in buckets: one person or named thing and one topic, or one rare word and one topic.
A bucket makes pairs of a bounded number of passages, so the work grows with the book, not with its
square. What a budget leaves out is counted.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from callboard.library.story.pairs.matters import (
    DEATH,
    DENIED,
    LOSS,
    THING,
    Matter,
    Told,
    matter_of,
)
from callboard.library.story.pairs.namesakes import similar_names
from callboard.library.story.pairs.passages import Rarity, Statement, brevity

# Of so many passages of a bucket, the most specific ones, so many pairs are made.
_IN_BUCKET: Final = 20
_PER_BUCKET: Final = 10
# A word that stands in no more passages than this is one they may be about.
_RARE: Final = 12
_RARE_WORD: Final = 6
_RARE_THING: Final = 36
# What a passage counts for each time it was taken before.
_AGAIN: Final = 0.85
# How sure it is that two passages with one rare word, in one scene or in one book, meet.
_BY_WORD: Final = 0.7
_BY_COUNT: Final = 0.6
_IN_SCENE: Final = 0.8
_IN_BOOK: Final = 0.4
# What a difference counts in speech, within one file, and between two cards.
_SPOKEN: Final = 0.75
_IN_ONE_FILE: Final = 0.5
_TWO_CARDS: Final = 0.2
# Beside what else two passages may be about, that one of them tells a death weighs so much.
_FATE: Final = 2.0
_DEATHS_TOLD: Final = 4
_MET_LATER: Final = 3
_USES: Final = 3
# Weight of the words two passages share from which on they are about one thing.
_ALIKE: Final = 1.3


@dataclass(frozen=True, slots=True)
class Pair:
    """Two passages that speak to one matter of one subject, the earlier first."""

    first: Statement
    second: Statement
    matter: Matter
    subject: str
    score: float
    # What of the matter both speak to: eyes, an age, how many servants; empty where it is not one.
    topic: str = ""

    @property
    def places(self) -> tuple[str, int, str, int]:
        """Where both stand."""
        return (self.first.path, self.first.number, self.second.path, self.second.number)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs a budget affords, the likeliest first, and how many it leaves out."""

    chosen: tuple[Pair, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Held:
    """A passage in a bucket, what it says of the topic, and how surely it belongs there."""

    passage: Statement
    told: Told
    sure: float

    @property
    def rank(self) -> tuple[float, int]:
        return (self.told.weight * self.sure, -self.passage.place)


def pair_up(passages: Sequence[Statement], most: int) -> Pairs:
    """Return the pairs of a book that could conflict, at most so many."""
    # Two passages that meet in several matters are asked about once, in the likeliest one.
    found: dict[tuple[str, int, str, int], Pair] = {}
    for pair in _candidates(passages, Rarity(passages)):
        known = found.get(pair.places)
        if known is None or pair.score > known.score:
            found[pair.places] = pair
    chosen = _chosen(sorted(found.values(), key=_order), most)
    return Pairs(chosen, len(found) - len(chosen))


def _order(pair: Pair) -> tuple[float, int, int, int, int]:
    first, second = pair.first, pair.second
    return (-pair.score, first.place, first.number, second.place, second.number)


def _chosen(order: Sequence[Pair], most: int) -> tuple[Pair, ...]:
    """Take the best of each matter in turn, so that none crowds out another."""
    lines: dict[Matter, list[tuple[float, int]]] = {matter: [] for matter in Matter}
    for at, pair in enumerate(order):
        lines[pair.matter].append((-pair.score, at))
    used: Counter[tuple[str, int]] = Counter()
    taken: list[Pair] = []
    while len(taken) < most and any(lines.values()):
        for line in lines.values():
            if line and len(taken) < most:
                taken.append(_next(line, order, used))
    return tuple(taken)


def _next(
    line: list[tuple[float, int]], order: Sequence[Pair], used: Counter[tuple[str, int]]
) -> Pair:
    """Take the best pair of a line; a passage that was taken before counts for less."""
    while True:
        score, at = heapq.heappop(line)
        pair = order[at]
        ends = [(each.path, each.number) for each in (pair.first, pair.second)]
        worth = -pair.score * _AGAIN ** max(used[end] for end in ends)
        if worth <= score or not line or worth <= line[0][0]:
            used.update(ends)
            return pair
        heapq.heappush(line, (worth, at))


def _candidates(passages: Sequence[Statement], rarity: Rarity) -> Iterator[Pair]:
    yield from _by_topic(passages, rarity)
    yield from _after_death(passages)
    yield from _after_loss(passages, rarity)
    for one, other, name, score in similar_names(passages):
        yield _pair(one, other, Matter.NAME, name, score)


def _by_topic(passages: Sequence[Statement], rarity: Rarity) -> Iterator[Pair]:
    buckets: dict[tuple[str, str, str], list[_Held]] = defaultdict(list)
    named = Counter(word for passage in passages for word in passage.places)
    for passage in passages:
        rare = [stem for stem in sorted(passage.stems) if 1 < rarity.counts[stem] <= _RARE]
        places = [word for word in sorted(passage.places) if 1 < named[word] <= _RARE_THING]
        things = [stem for stem in rare if rarity.counts[stem] <= _RARE_WORD]
        for told in passage.told:
            if told.topic in (DEATH, LOSS):
                continue
            words = things if told.topic == THING else [*rare, *places]
            for stem in words:
                buckets["word", stem, told.topic].append(_Held(passage, told, _BY_WORD))
            if told.topic != THING:
                for kind, name, sure in _subjects(passage, told):
                    buckets[kind, name, told.topic].append(_Held(passage, told, sure))
    for (kind, name, topic), held in buckets.items():
        subject = name if kind in ("who", "word") else ""
        yield from _bucket(subject, topic, held, rarity)


def _subjects(passage: Statement, told: Told) -> Iterator[tuple[str, str, float]]:
    """Go through what a passage may speak of besides its words, with how sure that is."""
    for name, sure in passage.people:
        yield "who", name, sure
    matter = matter_of(told.topic)
    if matter is Matter.NUMBER:
        yield "word", told.topic.partition("/")[2], _BY_COUNT
    if matter is Matter.TIME:
        yield "scene", passage.path, _IN_SCENE
        yield "book", "", _IN_BOOK


def _bucket(subject: str, topic: str, held: list[_Held], rarity: Rarity) -> Iterator[Pair]:
    best = heapq.nlargest(_IN_BUCKET, held, key=lambda each: each.rank)
    pairs = [
        _pair(
            one.passage,
            other.passage,
            matter_of(topic),
            subject,
            _score(one, other, rarity),
            topic,
        )
        for one, other in combinations(best, 2)
        if one.passage.quote.text != other.passage.quote.text
        and (topic != THING or _is_about_one_thing(one, other, rarity))
    ]
    yield from heapq.nsmallest(_PER_BUCKET, pairs, key=_order)


def _pair(
    one: Statement, other: Statement, matter: Matter, subject: str, score: float, topic: str = ""
) -> Pair:
    first, second = sorted((one, other), key=lambda each: (each.place, each.number))
    return Pair(first, second, matter, subject.lstrip("?"), score, topic)


def _score(one: _Held, other: _Held, rarity: Rarity) -> float:
    first, second = one.passage, other.passage
    weight = (one.told.weight + other.told.weight) * one.sure * other.sure
    about = brevity(first) * brevity(second)
    shared = min(1.0, 0.3 * rarity.shared(first, second)) * brevity(first)
    return (weight * about * _difference(one, other) + shared) * _standing(first, second)


def _standing(first: Statement, second: Statement) -> float:
    """How much a difference is worth by where both stand: people lie, cards are looked up."""
    worth = _SPOKEN ** (first.is_spoken + second.is_spoken)
    if first.path == second.path:
        worth *= _IN_ONE_FILE
    return worth * _TWO_CARDS if first.is_canon and second.is_canon else worth


def _is_about_one_thing(one: _Held, other: _Held, rarity: Rarity) -> bool:
    """Say whether two passages share more than a word, or one denies what the other may tell."""
    shared = rarity.shared(one.passage, other.passage)
    return one.told.values != other.told.values or shared >= _ALIKE


def _difference(one: _Held, other: _Held) -> float:
    """How far apart two passages are in what they say of a topic, as far as words tell."""
    mine, theirs = one.told.values - {DENIED}, other.told.values - {DENIED}
    is_denied = (DENIED in one.told.values) != (DENIED in other.told.values)
    if mine and theirs:
        return 2.0 if not mine & theirs else 1.0 if is_denied else 0.1
    if is_denied:
        return 1.0
    first, second = one.passage.places, other.passage.places
    if matter_of(one.told.topic) is Matter.PLACE and first and second:
        return 1.4 if not first & second else 0.3
    return 0.3


def _after_death(passages: Sequence[Statement]) -> Iterator[Pair]:
    """Pair what tells somebody's death with where they are met later on."""
    met: dict[str, list[tuple[float, Statement]]] = defaultdict(list)
    dead: dict[str, list[tuple[float, Statement]]] = defaultdict(list)
    for passage in passages:
        told = [each for each in passage.told if each.topic == DEATH]
        for name, sure in passage.people:
            if told:
                dead[name].append((sure * told[0].weight, passage))
            if not any(each.values for each in told):
                met[name].append((sure, passage))
    for name, deaths in dead.items():
        for sure, passage in heapq.nlargest(_DEATHS_TOLD, deaths, key=_likeliest):
            at = (passage.place, passage.number)
            is_kin = " of " in name
            later = [each for each in met[name] if is_kin or (each[1].place, each[1].number) > at]
            # Whoever is met all through the rest of a book is hardly dead.
            worth = sure * brevity(passage) / (1.0 + math.log1p(sum(each[0] for each in later)))
            for likely, each in heapq.nlargest(_MET_LATER, later, key=_latest):
                score = _FATE * worth * likely * brevity(each)
                yield _pair(passage, each, Matter.DEATH, name, score)


def _likeliest(each: tuple[float, Statement]) -> tuple[float, int]:
    return (each[0], -each[1].place)


def _latest(each: tuple[float, Statement]) -> tuple[float, int]:
    return (each[0], each[1].place)


def _after_loss(passages: Sequence[Statement], rarity: Rarity) -> Iterator[Pair]:
    """Pair what tells that a thing is gone with where words for it stand elsewhere."""
    by_stem: dict[str, list[int]] = defaultdict(list)
    for at, passage in enumerate(passages):
        for stem in passage.stems:
            if 1 < rarity.counts[stem] <= _RARE_THING:
                by_stem[stem].append(at)
    for at, passage in enumerate(passages):
        if not any(told.topic == LOSS for told in passage.told):
            continue
        weights: dict[int, float] = defaultdict(float)
        for stem in sorted(passage.stems):
            for other in by_stem.get(stem, ()):
                if other != at:
                    weights[other] += rarity.weight(stem)
        for other, weight in heapq.nlargest(_USES, weights.items(), key=lambda each: each[1]):
            yield _lost(passage, passages[other], weight)


def _lost(gone: Statement, used: Statement, weight: float) -> Pair:
    owners = {name for name, _ in gone.people} & {name for name, _ in used.people}
    score = (weight + (0.5 if owners else 0.0)) * brevity(gone) * brevity(used)
    return _pair(gone, used, Matter.POSSESSION, min(owners, default=""), score)

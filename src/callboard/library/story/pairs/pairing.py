"""Pairing: which passages of a book could contradict each other, the likeliest first.

Passages meet in buckets: one person or named thing and one topic, or one rare word and one topic.
A bucket holds a bounded number of passages, so the work grows with the book, not with its square.
What a budget leaves out is counted, never forgotten.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from callboard.library.story.pairs.matters import DEATH, DENIED, LOSS, Matter, Told, matter_of
from callboard.library.story.pairs.namesakes import similar_names
from callboard.library.story.pairs.passages import Passage

# Of so many passages in a bucket pairs are made: the most specific ones.
_IN_BUCKET: Final = 20
_PER_BUCKET: Final = 10
_RARE: Final = 12
_AGAIN: Final = 0.85


@dataclass(frozen=True, slots=True)
class Pair:
    """Two passages that speak to one matter of one subject, the earlier first."""

    first: Passage
    second: Passage
    matter: Matter
    subject: str
    score: float


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs a budget affords, the likeliest first, and how many it leaves out."""

    chosen: tuple[Pair, ...]
    left_out: int


def pair_up(passages: Sequence[Passage], most: int) -> Pairs:
    """Return the pairs of a book that could conflict, at most so many."""
    found: dict[tuple[object, ...], Pair] = {}
    rarity = _Rarity(passages)
    for pair in _candidates(passages, rarity):
        first, second = pair.first, pair.second
        key = (pair.matter, first.path, first.number, second.path, second.number)
        known = found.get(key)
        if known is None or pair.score > known.score:
            found[key] = pair
    order = sorted(found.values(), key=_order)
    chosen = _chosen(order, most)
    return Pairs(tuple(chosen), len({key[1:] for key in found}) - len(chosen))


def _order(pair: Pair) -> tuple[float, int, int, int, int]:
    first, second = pair.first, pair.second
    return (-pair.score, first.place, first.number, second.place, second.number)


def _chosen(order: Sequence[Pair], most: int) -> list[Pair]:
    """Take the best of each matter in turn, so that none crowds out another."""
    lines: dict[Matter, list[tuple[float, int]]] = {matter: [] for matter in Matter}
    for at, pair in enumerate(order):
        lines[pair.matter].append((-pair.score, at))
    used: Counter[tuple[str, int]] = Counter()
    taken: dict[tuple[object, ...], Pair] = {}
    while len(taken) < most and any(lines.values()):
        for line in lines.values():
            if line and len(taken) < most:
                pair = _next(line, order, used)
                first, second = pair.first, pair.second
                key = (first.path, first.number, second.path, second.number)
                taken.setdefault(key, pair)
    return list(taken.values())


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


class _Rarity:
    """How telling a stem is in a book: the rarer, the more."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.counts: Counter[str] = Counter()
        for passage in passages:
            self.counts.update(passage.stems)
        self._all = max(2, len(passages))

    def weight(self, stem: str) -> float:
        return math.log(self._all / (1 + self.counts[stem])) / math.log(self._all)

    def shared(self, first: Passage, second: Passage) -> float:
        return sum(self.weight(stem) for stem in first.stems & second.stems)


def _candidates(passages: Sequence[Passage], rarity: _Rarity) -> Iterator[Pair]:
    yield from _by_topic(passages, rarity)
    yield from _fates(passages, rarity, DEATH)
    yield from _losses(passages, rarity)
    for one, other, name, score in similar_names(passages):
        first, second = _in_order(one, other)
        yield Pair(first, second, Matter.NAME, name, score)


def _by_topic(passages: Sequence[Passage], rarity: _Rarity) -> Iterator[Pair]:
    buckets: dict[tuple[str, str], list[tuple[float, Passage, Told, float]]] = defaultdict(list)
    for passage in passages:
        for told in passage.told:
            if told.topic in (DEATH, LOSS):
                continue
            for name, sure in passage.people:
                buckets[name, told.topic].append((told.weight * sure, passage, told, sure))
            for stem in passage.stems:
                if 1 < rarity.counts[stem] <= _RARE:
                    buckets[f"~{stem}", told.topic].append((told.weight * 0.7, passage, told, 0.7))
            if matter_of(told.topic) is Matter.TIME:
                for scope, sure in ((passage.path, 0.8), ("book", 0.4)):
                    buckets[f"#{scope}", told.topic].append(
                        (told.weight * sure, passage, told, sure)
                    )
    for (name, topic), held in buckets.items():
        yield from _bucket(name, topic, held, rarity)


def _bucket(
    name: str, topic: str, held: list[tuple[float, Passage, Told, float]], rarity: _Rarity
) -> Iterator[Pair]:
    best = heapq.nlargest(_IN_BUCKET, held, key=lambda each: (each[0], -each[1].place))
    pairs: list[Pair] = []
    for one, other in combinations(best, 2):
        score = _score(one, other, rarity)
        if score > 0:
            first, second = _in_order(one[1], other[1])
            pairs.append(Pair(first, second, matter_of(topic), name.lstrip("~#"), score))
    yield from heapq.nsmallest(_PER_BUCKET, pairs, key=_order)


def _in_order(one: Passage, other: Passage) -> tuple[Passage, Passage]:
    return (one, other) if (one.place, one.number) <= (other.place, other.number) else (other, one)


def _score(
    one: tuple[float, Passage, Told, float],
    other: tuple[float, Passage, Told, float],
    rarity: _Rarity,
) -> float:
    _, first, said, sure = one
    _, second, meant, certain = other
    if first.path == second.path and abs(first.number - second.number) < 1:
        return 0.0
    weight = (said.weight + meant.weight) * sure * certain
    weight *= _brevity(first) * _brevity(second)
    shared = min(1.0, 0.3 * rarity.shared(first, second))
    return weight * _difference(said, meant, first, second) + shared * _brevity(first)


def _brevity(passage: Passage) -> float:
    """How much a sentence is about any one thing: the longer, the less."""
    return 1.0 / (1.0 + max(0, len(passage.stems) - 6) / 20)


def _difference(said: Told, meant: Told, first: Passage, second: Passage) -> float:
    mine, theirs = said.values - {DENIED}, meant.values - {DENIED}
    if mine and theirs:
        if not mine & theirs:
            return 2.0
        return 1.0 if (DENIED in said.values) != (DENIED in meant.values) else 0.1
    if (DENIED in said.values) != (DENIED in meant.values):
        return 1.0
    if matter_of(said.topic) is Matter.PLACE and first.places and second.places:
        return 1.4 if not first.places & second.places else 0.3
    return 0.3


def _fates(passages: Sequence[Passage], rarity: _Rarity, topic: str) -> Iterator[Pair]:
    """Pair what tells somebody's death with where they appear later on."""
    by_name: dict[str, list[Passage]] = defaultdict(list)
    dead: dict[str, list[tuple[float, Passage]]] = defaultdict(list)
    for passage in passages:
        is_told = max((told.weight for told in passage.told if told.topic == topic), default=0.0)
        for name, sure in passage.people:
            by_name[name].append(passage)
            if is_told:
                dead[name].append((sure * is_told, passage))
    for name, told in dead.items():
        for sure, passage in heapq.nlargest(4, told, key=lambda e: (e[0], -e[1].place)):
            later = [
                (dict(each.people)[name], each)
                for each in by_name[name]
                if (each.place, each.number) > (passage.place, passage.number)
                and not any(t.topic == topic and t.values for t in each.told)
            ]
            # Whoever is met all through the rest of a book is hardly dead.
            rest = sum(likely for likely, _ in later)
            worth = sure * _brevity(passage) / (1.0 + math.log1p(rest))
            for likely, each in heapq.nlargest(3, later, key=lambda e: (e[0], e[1].place)):
                yield Pair(passage, each, Matter.DEATH, name, worth * likely * _brevity(each))


def _losses(passages: Sequence[Passage], rarity: _Rarity) -> Iterator[Pair]:
    by_stem: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        for stem in passage.stems:
            if 1 < rarity.counts[stem] <= 3 * _RARE:
                by_stem[stem].append(passage)
    for passage in passages:
        if not any(told.topic == LOSS for told in passage.told):
            continue
        met: Counter[int] = Counter()
        known: dict[int, Passage] = {}
        weights: dict[int, float] = defaultdict(float)
        for stem in passage.stems:
            for each in by_stem.get(stem, ()):
                if each is not passage:
                    known[id(each)] = each
                    weights[id(each)] += rarity.weight(stem)
                    met[id(each)] += 1
        best = heapq.nlargest(3, weights.items(), key=lambda e: e[1])
        for number, weight in best:
            first, second = _in_order(passage, known[number])
            shared = {name for name, _ in first.people} & {name for name, _ in second.people}
            score = (weight + (0.5 if shared else 0.0)) * _brevity(first) * _brevity(second)
            yield Pair(first, second, Matter.POSSESSION, next(iter(sorted(shared)), ""), score)

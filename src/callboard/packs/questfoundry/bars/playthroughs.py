"""Playthroughs: places that somebody can come to, each with the way there. Finds, never refutes.

What is found here is a proof that it can be reached. What is not found may only have been missed,
unless the search was whole.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.bars.ways import Effort, WayNet

NOWHERE: Final = -1
# How many different sets of keys a section is visited with when not all can be.
WIDTH: Final = 4


@dataclass(slots=True)
class Playthroughs:
    """Every place that was played to: section, keys, and the place and way it was come from."""

    net: WayNet
    section: list[int] = field(default_factory=list[int])
    keys: list[int] = field(default_factory=list[int])
    parent: list[int] = field(default_factory=list[int])
    way: list[int] = field(default_factory=list[int])
    first: list[int] = field(default_factory=list[int])
    taken: bytearray = field(default_factory=bytearray)
    is_whole: bool = False

    def __post_init__(self) -> None:
        """Make room for every section and way."""
        self.first = [NOWHERE] * len(self.net.ids)
        self.taken = bytearray(len(self.net.choices))

    def add(self, section: int, keys: int, parent: int, way: int) -> int:
        """Note a place; the first of a section is its witness."""
        number = len(self.section)
        self.section.append(section)
        self.keys.append(keys)
        self.parent.append(parent)
        self.way.append(way)
        if self.first[section] == NOWHERE:
            self.first[section] = number
        return number

    def path_to(self, place: int) -> tuple[str, ...]:
        """Return the choices that lead from the start to a place."""
        path: list[str] = []
        while self.parent[place] != NOWHERE:
            path.append(self.net.choices[self.way[place]])
            place = self.parent[place]
        return tuple(reversed(path))

    def graft(self, other: "Playthroughs", place: int, known: dict[int, int]) -> int:
        """Play the way to a place of other playthroughs here too.

        `known` tells which of their places stand where here, and learns the new ones.
        """
        chain: list[int] = []
        while place not in known:
            chain.append(place)
            place = other.parent[place]
        at = known[place]
        for each in reversed(chain):
            way = self.net.ways[other.way[each]]
            self.taken[way.number] = 1
            at = self.add(way.to, self.keys[at] & way.keep | way.gain, at, way.number)
            known[each] = at
        return at

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Yield every place: its number, its section, its keys."""
        yield from zip(range(len(self.section)), self.section, self.keys, strict=True)


def begun(net: WayNet) -> Playthroughs:
    """Return playthroughs that have only opened the book."""
    played = Playthroughs(net)
    played.add(net.start, net.begins_with, NOWHERE, NOWHERE)
    return played


def play_all(net: WayNet, effort: Effort) -> Playthroughs:
    """Play every place there is; `is_whole` says whether the effort was enough."""
    return play_few_first(begun(net), effort, width=None)


def play_few_first(
    played: Playthroughs, effort: Effort, *, width: int | None = WIDTH
) -> Playthroughs:
    """Play the nearest places first; with a width only so many sets of keys a section."""
    net = played.net
    out, taken = net.out, played.taken
    seen: list[set[int]] = [set() for _ in net.ids]
    seen[net.start].add(played.keys[0])
    waiting = deque([0])
    is_whole = width is None
    while waiting:
        place = waiting.popleft()
        section, keys = played.section[place], played.keys[place]
        if not effort.spend(len(out[section]) + 1):
            is_whole = False
            break
        for number, to, need, forbid, keep, gain in out[section]:
            if need & ~keys or forbid & keys:
                continue
            taken[number] = 1
            after = keys & keep | gain
            known = seen[to]
            if after in known or (width is not None and len(known) >= width):
                continue
            known.add(after)
            waiting.append(played.add(to, after, place, number))
    played.is_whole = is_whole
    return played


def play_most_first(
    played: Playthroughs, effort: Effort, seeds: Iterable[int] = (0,), *, width: int = WIDTH
) -> None:
    """Go on from some places, always where most keys are held.

    A set of keys within another that the section was visited with is left out: that misses only
    what asks for the absence of a key.
    """
    net = played.net
    out, taken = net.out, played.taken
    kept = [NOWHERE] * len(out)
    others: dict[int, list[int]] = {}
    heaps: list[list[int]] = [[] for _ in range(len(net.bits) + 1)]
    highest = 0
    for place in seeds:
        count = played.keys[place].bit_count()
        heaps[count].append(place)
        highest = max(highest, count)
    while highest >= 0:
        if not heaps[highest]:
            highest -= 1
            continue
        place = heaps[highest].pop()
        section, keys = played.section[place], played.keys[place]
        if not effort.spend(len(out[section]) + 1):
            return
        for number, to, need, forbid, keep, gain in out[section]:
            if need & ~keys or forbid & keys:
                continue
            taken[number] = 1
            after = keys & keep | gain
            # The first set of keys of a section mostly holds all others.
            if kept[to] == NOWHERE or not kept[to] & ~after:
                if kept[to] == after:
                    continue
                kept[to] = after
            elif (
                not after & ~kept[to]
                or width == 1
                or not _is_new(others.setdefault(to, []), after, width - 1)
            ):
                continue
            count = after.bit_count()
            heaps[count].append(played.add(to, after, place, number))
            highest = max(highest, count)


def _is_new(known: list[int], keys: int, width: int) -> bool:
    for number, each in enumerate(known):
        if not keys & ~each:
            return False
        if not each & ~keys:
            known[number] = keys
            return True
    if len(known) >= width:
        return False
    known.append(keys)
    return True

"""Locks: places that somebody can come to and from which no end can be reached.

A section is free when everybody who comes to it can still end. That is proved backwards from the
ends, by conditions that always hold, by slices of a few keys, and by what more keys can never
hinder. A lock is proved by a playthrough to a place from which even bounds reach no end. The rest
is undecided.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from callboard.packs.questfoundry.bars.brackets import BracketProof, bounds_from
from callboard.packs.questfoundry.bars.ways import Effort, WayNet

WIDEST_SLICE: Final = 8
MOST_CASES: Final = 12
# From so many places of a section it is tried to prove a lock.
_PLACES: Final = 3
_SEARCH_STEPS: Final = 40_000


@dataclass(frozen=True, slots=True)
class SoftLock:
    """A place that can be come to, and is never left for an end."""

    section: int
    keys: int
    path: tuple[str, ...]


@dataclass(slots=True)
class LockProof:
    """Sections with a proved lock, and those where none was proved or ruled out."""

    locks: list[SoftLock] = field(default_factory=list[SoftLock])
    undecided: list[int] = field(default_factory=list[int])


def endless_sections(net: WayNet) -> set[int]:
    """Return the sections from which no choice ever leads to an end, whatever is held."""
    can_end = _backwards(net, (s for s, is_end in enumerate(net.is_end) if is_end))
    return {section for section in range(len(net.ids)) if section not in can_end}


def find_locks(proof: BracketProof, endless: set[int], effort: Effort) -> LockProof:
    """Prove every section free or locked as far as an effort goes; endless ones are known."""
    if proof.played.is_whole:
        return LockProof(list(_exact_locks(proof, endless)))
    free = _Free(proof, effort)
    free.prove()
    rest = [
        section
        for section in range(len(proof.net.ids))
        if proof.bounds.is_there(section)
        and section not in proof.never
        and section not in endless
        and not free.is_free[section]
    ]
    return _prove_locked(proof, rest, effort)


def _exact_locks(proof: BracketProof, endless: set[int]) -> Iterator[SoftLock]:
    net, played = proof.net, proof.played
    number = {(s, keys): place for place, s, keys in played.places()}
    before: list[list[int]] = [[] for _ in played.section]
    for place, section, keys in played.places():
        for way in net.out[section]:
            if not way.need & ~keys and not way.forbid & keys:
                before[number[way.to, keys & way.keep | way.gain]].append(place)
    can_end = {place for place, section, _ in played.places() if net.is_end[section]}
    waiting = list(can_end)
    while waiting:
        fresh = [each for each in before[waiting.pop()] if each not in can_end]
        can_end.update(fresh)
        waiting += fresh
    told: set[int] = set()
    for place, section, keys in played.places():
        if place in can_end or section in endless or section in told:
            continue
        # Where a lock is walked into is what has to change, not what lies behind it.
        parent = played.parent[place]
        if parent < 0 or parent in can_end:
            told.add(section)
            yield SoftLock(section, keys, played.path_to(place))


def _backwards(net: WayNet, ends: Iterable[int]) -> set[int]:
    found = set(ends)
    waiting = list(found)
    while waiting:
        for section, _ in net.incoming[waiting.pop()]:
            if section not in found:
                found.add(section)
                waiting.append(section)
    return found


class _Free:
    """Which sections are proved free; grows only."""

    def __init__(self, proof: BracketProof, effort: Effort) -> None:
        self._net, self._bounds, self._effort = proof.net, proof.bounds, effort
        self._never = proof.never
        self.is_free = bytearray(len(self._net.ids))
        self._growing = self._growing_keys()
        # Sections with a way to a free one that is not open for everybody.
        self._border: set[int] = set()

    def prove(self) -> None:
        """Work backwards from the ends until nothing more is proved."""
        self._spread(s for s, is_end in enumerate(self._net.is_end) if is_end)
        while self._effort.steps > 0:
            before = sum(self.is_free)
            for about in self._gates():
                self._by_slice(about)
            if sum(self.is_free) == before:
                self._by_growth()
            if sum(self.is_free) == before:
                return

    def _spread(self, sections: Iterable[int]) -> None:
        waiting: list[int] = []
        for section in sections:
            if not self.is_free[section]:
                self.is_free[section] = 1
                self._border.discard(section)
                waiting.append(section)
        while waiting:
            for section, way in self._net.incoming[waiting.pop()]:
                if self.is_free[section] or section in self._never:
                    continue
                if self._bounds.must_open(section, way) or self._is_covered(section):
                    self.is_free[section] = 1
                    self._border.discard(section)
                    waiting.append(section)
                elif self._bounds.is_there(section):
                    self._border.add(section)

    def _is_covered(self, section: int) -> bool:
        """Say whether some way to a free section is open in every case."""
        leading = [way for way in self._net.out[section] if self.is_free[way.to]]
        if not 1 < len(leading) <= MOST_CASES:
            return False
        about = 0
        for way in leading:
            about |= way.need | way.forbid
        if about.bit_count() > WIDEST_SLICE:
            return False
        return all(
            any(not way.need & ~keys and not way.forbid & keys for way in leading)
            for keys in self._cases(section, about)
        )

    def _cases(self, section: int, about: int) -> Iterator[int]:
        """Yield every set of the keys of a slice that the bounds allow here."""
        may, must = self._bounds.may[section] & about, self._bounds.must[section] & about
        for kept in product(*((0, bit) for bit in _bits(may & ~must))):
            yield must | sum(kept)

    def _gates(self) -> list[int]:
        """Return the keys that ways from other sections to free ones ask for, fewest first."""
        masks = {
            way.need | way.forbid
            for section in self._border
            for way in self._net.out[section]
            if self.is_free[way.to]
        }
        return sorted(
            (m for m in masks if 0 < m.bit_count() <= WIDEST_SLICE),
            key=lambda mask: (mask.bit_count(), mask),
        )

    def _by_slice(self, about: int) -> None:
        """Play out some keys backwards; keys of ways that stay closed are looked at next."""
        while True:
            closed = self._slice(about)
            wider = about | closed
            if wider == about or wider.bit_count() > WIDEST_SLICE or self._effort.steps <= 0:
                return
            about = wider

    def _slice(self, about: int) -> int:
        """Free the sections all of whose cases can end; return the keys that were in the way."""
        cone, closed = self._cone(about)
        before: dict[tuple[int, int], list[tuple[int, int]]] = {}
        can_end: set[tuple[int, int]] = set()
        for section in cone:
            for keys in self._cases(section, about):
                if not self._effort.spend(len(self._net.out[section]) + 1):
                    return 0
                for way in self._net.out[section]:
                    if way.need & about & ~keys or way.forbid & about & keys:
                        continue
                    if not self._bounds.must_open(section, way, about):
                        continue
                    if self.is_free[way.to]:
                        can_end.add((section, keys))
                    elif way.to in cone:
                        after = (way.to, (keys & way.keep | way.gain) & about)
                        before.setdefault(after, []).append((section, keys))
        waiting = list(can_end)
        while waiting:
            fresh = [each for each in before.get(waiting.pop(), ()) if each not in can_end]
            can_end.update(fresh)
            waiting += fresh
        proved = [
            section
            for section in cone
            if all((section, keys) in can_end for keys in self._cases(section, about))
        ]
        self._spread(proved)
        return 0 if proved else closed

    def _cone(self, about: int) -> tuple[set[int], int]:
        """Return the sections before the gates of a slice, and keys that other ways there ask."""
        cone: set[int] = set()
        closed = 0
        waiting = [
            section
            for section in sorted(self._border)
            for way in self._net.out[section]
            if self.is_free[way.to] and self._bounds.must_open(section, way, about)
        ]
        cone.update(waiting)
        while waiting and self._effort.spend(1):
            for section, way in self._net.incoming[waiting.pop()]:
                if section in cone or self.is_free[section] or section in self._never:
                    continue
                if self._bounds.must_open(section, way, about):
                    cone.add(section)
                    waiting.append(section)
        for section in cone:
            for way in self._net.out[section]:
                if not self._bounds.must_open(section, way, about):
                    closed |= (way.need | way.forbid) & ~about
        return cone, closed

    def _growing_keys(self) -> int:
        """Return the keys nobody loses and whose absence nobody asks for: more is never worse."""
        growing = (1 << len(self._net.bits)) - 1
        for ways in self._net.out:
            for way in ways:
                growing &= way.keep | way.gain
                growing &= ~way.forbid
        return growing

    def _by_growth(self) -> None:
        """Free sections from which somebody with the fewest keys possible finds a free one."""
        for section in sorted(self._border):
            if self._effort.steps <= 0:
                return
            if not self.is_free[section]:
                part = self._effort.part(_SEARCH_STEPS)
                if self._gets_free(section, part):
                    self._spread([section])
                self._effort.give_back(part)

    def _gets_free(self, section: int, effort: Effort) -> bool:
        # Only keys that never hinder are followed; a set within one already seen adds nothing.
        growing = self._growing
        known = {section: self._bounds.must[section] & growing}
        waiting = deque([section])
        while waiting:
            at = waiting.popleft()
            keys = known[at]
            if not effort.spend(len(self._net.out[at]) + 1):
                return False
            for way in self._net.out[at]:
                if way.need & growing & ~keys or not self._bounds.must_open(at, way, growing):
                    continue
                if self.is_free[way.to]:
                    return True
                after = (keys & way.keep | way.gain) & growing
                if way.to not in known or after.bit_count() > known[way.to].bit_count():
                    known[way.to] = after
                    waiting.append(way.to)
        return False


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


def _prove_locked(proof: BracketProof, rest: list[int], effort: Effort) -> LockProof:
    """Look from found places of the sections that are left for one that no end follows."""
    found = LockProof()
    left = set(rest)
    places: dict[int, list[tuple[int, int]]] = {}
    for place, section, keys in proof.played.places():
        if section in left and len(held := places.setdefault(section, [])) < _PLACES:
            held.append((place, keys))
    ends = [s for s, is_end in enumerate(proof.net.is_end) if is_end]
    for section in rest:
        for place, keys in places.get(section, ()):
            if section not in left or effort.steps <= 0:
                break
            bounds = bounds_from(proof.net, section, keys, effort)
            if effort.steps > 0 and not any(bounds.is_there(end) for end in ends):
                found.locks.append(SoftLock(section, keys, proof.played.path_to(place)))
                # What lies behind a lock is locked with it.
                left -= {each for each in left if bounds.is_there(each)}
    found.undecided = [section for section in rest if section in left]
    return found

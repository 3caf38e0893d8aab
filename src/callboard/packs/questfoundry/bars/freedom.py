"""Free sections: those from which everybody who comes there can still reach an end.

Proved backwards from the ends: by ways that are always open, by slices of a few keys played out in
every case, and by keys of which more is never worse. What is not proved here is not thereby locked.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from callboard.packs.questfoundry.bars.brackets import BracketProof
from callboard.packs.questfoundry.bars.ways import Effort, StoryWay

WIDEST_SLICE: Final = 8
MOST_CASES: Final = 12
_SEARCH_STEPS: Final = 200_000


class FreeSections:
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
            self._by_growth()
            if sum(self.is_free) == before:
                for about in self._gates():
                    self._by_slice(about)
            if sum(self.is_free) == before:
                return

    def _spread(self, sections: Iterable[int]) -> None:
        waiting: list[int] = []
        for section in sections:
            if not self.is_free[section]:
                self.is_free[section] = 1
                self._border.discard(section)
                waiting.append(section)
        incoming, source, ways = self._net.incoming, self._net.source, self._net.ways
        while waiting:
            for number in incoming[waiting.pop()]:
                section = source[number]
                if self.is_free[section] or section in self._never:
                    continue
                _, _, need, forbid, _, _ = way = ways[number]
                is_plain = not need and not forbid
                if is_plain or self._is_open(section, way) or self._is_covered(section):
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
        cone = self._cone(about)
        # A case is one number: the section, then room for its keys.
        room = len(self._net.bits)
        before: dict[int, list[int]] = {}
        can_end: list[int] = []
        cases: dict[int, list[int]] = {}
        for section in cone:
            ways = [
                way
                for way in self._net.out[section]
                if (self.is_free[way[1]] or way[1] in cone)
                and (not (way[2] or way[3]) or self._is_open(section, way, about))
            ]
            cases[section] = list(self._cases(section, about))
            if not self._effort.spend(len(cases[section]) * (len(ways) + 1)):
                return 0
            for keys in cases[section]:
                for _, to, need, forbid, keep, gain in ways:
                    if need & about & ~keys or forbid & about & keys:
                        continue
                    if self.is_free[to]:
                        can_end.append(section << room | keys)
                        break
                    after = to << room | (keys & keep | gain) & about
                    before.setdefault(after, []).append(section << room | keys)
        ended = set(can_end)
        while can_end:
            fresh = [each for each in before.get(can_end.pop(), ()) if each not in ended]
            ended.update(fresh)
            can_end += fresh
        proved = [
            section
            for section in cone
            if all(section << room | keys in ended for keys in cases[section])
        ]
        self._spread(proved)
        return 0 if proved else self._closed(cone, about)

    def _closed(self, cone: set[int], about: int) -> int:
        """Return the keys that shut ways of some sections ask for."""
        closed = 0
        for section in cone:
            for way in self._net.out[section]:
                if not self._is_open(section, way, about):
                    closed |= (way.need | way.forbid) & ~about
        return closed

    def _cone(self, about: int) -> set[int]:
        """Return the sections before the gates of a slice."""
        net = self._net
        if not self._effort.spend(3 * len(self._border)):
            return set()
        waiting = [
            section
            for section in sorted(self._border)
            if any(
                self.is_free[way.to] and self._is_open(section, way, about)
                for way in net.out[section]
            )
        ]
        cone = set(waiting)
        while waiting and self._effort.spend(1):
            for number in net.incoming[waiting.pop()]:
                section = net.source[number]
                if section in cone or self.is_free[section] or section in self._never:
                    continue
                if self._is_open(section, net.ways[number], about):
                    cone.add(section)
                    waiting.append(section)
        return cone

    def _is_open(self, section: int, way: StoryWay, but: int = 0) -> bool:
        # Most ways ask for nothing.
        return not (way.need | way.forbid) or self._bounds.must_open(section, way, but)

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
        """Say whether the fewest keys possible are enough, following keys that never hinder."""
        keys = self._gathered(section, self._bounds.must[section] & self._growing, effort)
        if keys is None:
            return True
        known = {section: keys}
        waiting = deque([section])
        while waiting:
            at = waiting.popleft()
            keys = known[at]
            if not effort.spend(len(self._net.out[at]) + 1):
                return False
            for way in self._open_ways(at, keys):
                if self.is_free[way.to]:
                    return True
                after = (keys & way.keep | way.gain) & self._growing
                if way.to not in known or after.bit_count() > known[way.to].bit_count():
                    known[way.to] = after
                    waiting.append(way.to)
        return False

    def _gathered(self, section: int, keys: int, effort: Effort) -> int | None:
        """Return all keys that can be had on ways round to a section; None if one gets free.

        Whoever can come back can go round again, so every round adds what all rounds give.
        """
        while True:
            before = self._seen_from(section, keys, effort)
            if before is None:
                return None
            ring, waiting = {section}, [section]
            while waiting:
                fresh = [each for each in before[waiting.pop()] if each not in ring]
                ring.update(fresh)
                waiting += fresh
            more = keys
            for at in ring:
                for way in self._open_ways(at, keys):
                    if way.to in ring:
                        more |= way.gain & self._growing
            if more == keys or effort.steps <= 0:
                return keys
            keys = more

    def _seen_from(self, section: int, keys: int, effort: Effort) -> dict[int, list[int]] | None:
        """Return what can be reached with some keys, each with where from; None if one is free."""
        before: dict[int, list[int]] = {section: []}
        waiting = [section]
        while waiting:
            at = waiting.pop()
            if not effort.spend(len(self._net.out[at]) + 1):
                return before
            for way in self._open_ways(at, keys):
                if self.is_free[way.to]:
                    return None
                if way.to not in before:
                    before[way.to] = []
                    waiting.append(way.to)
                before[way.to].append(at)
        return before

    def _open_ways(self, section: int, keys: int) -> Iterator[StoryWay]:
        growing = self._growing
        for way in self._net.out[section]:
            if not way.need & growing & ~keys and self._is_open(section, way, growing):
                yield way


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit

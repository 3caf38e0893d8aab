"""Brackets: what no reader can reach, what one can, and what nobody could decide.

Bounds on the keys held at each section prove "never"; a playthrough proves "reachable". Between
them a slice of a few keys is played out in both directions: with every other condition taken as
met, what is not found is never; with every other condition taken as unmet, what is found is real.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.bars.playthroughs import (
    NOWHERE,
    Playthroughs,
    begun,
    play_all,
    play_few_first,
    play_most_first,
)
from callboard.packs.questfoundry.bars.ways import Effort, StoryWay, WayNet

# A book this small is played out whole if its places allow it.
WHOLE_SECTIONS: Final = 3_000
WHOLE_STEPS: Final = 200_000
WIDEST_SLICE: Final = 6
# With so many different sets of keys a section is visited, one after the other.
WIDTHS: Final = (4, 16, 64)
_UNSEEN: Final = -1


@dataclass(slots=True)
class KeyBounds:
    """Keys that may be held on arrival at each section, and those that must be; -1: never there."""

    may: list[int]
    must: list[int]

    def is_there(self, section: int) -> bool:
        """Say whether anybody may come to a section."""
        return self.may[section] != _UNSEEN

    def may_open(self, section: int, way: StoryWay, but: int = 0) -> bool:
        """Say whether a way may be open; conditions on the keys of `but` are not looked at."""
        need, forbid = way.need & ~but, way.forbid & ~but
        return not need & ~self.may[section] and not forbid & self.must[section]

    def must_open(self, section: int, way: StoryWay, but: int = 0) -> bool:
        """Say whether a way is open for everybody who comes here."""
        need, forbid = way.need & ~but, way.forbid & ~but
        return not need & ~self.must[section] and not forbid & self.may[section]


@dataclass(slots=True)
class BracketProof:
    """What is known of every section and every way of a book."""

    net: WayNet
    bounds: KeyBounds
    played: Playthroughs
    never: set[int] = field(default_factory=set[int])
    never_ways: set[int] = field(default_factory=set[int])
    stopped: str = ""

    @property
    def reached(self) -> list[int]:
        """The sections somebody can come to, with a playthrough as the proof."""
        return [s for s, place in enumerate(self.played.first) if place != NOWHERE]

    @property
    def undecided(self) -> list[int]:
        """The sections for which neither is proved."""
        first = self.played.first
        return [s for s in range(len(first)) if first[s] == NOWHERE and s not in self.never]

    @property
    def undecided_ways(self) -> list[tuple[int, StoryWay]]:
        """The ways from reached sections that nobody was found to take, nor proved closed."""
        taken, never, first = self.played.taken, self.never_ways, self.played.first
        ways, source = self.net.ways, self.net.source
        return [
            (source[number], ways[number])
            for number, is_taken in enumerate(taken)
            if not is_taken and first[source[number]] != NOWHERE and number not in never
        ]

    def witness(self, section: int) -> tuple[str, ...]:
        """Return the choices that lead to a reached section."""
        return self.played.path_to(self.played.first[section])


def bracket(net: WayNet, effort: Effort, *, whole_steps: int = WHOLE_STEPS) -> BracketProof:
    """Decide what can be decided within an effort; so many steps try to play the book whole."""
    if whole_steps and len(net.ids) <= WHOLE_SECTIONS:
        part = effort.part(whole_steps)
        played = play_all(net, part)
        effort.give_back(part)
        if played.is_whole:
            return _exact(net, played, effort)
    bounds = bounds_from(net, net.start, net.begins_with, effort)
    played = begun(net)
    proof = BracketProof(net, bounds, played)
    _close(proof)
    # Narrow first: most books need no more, and a wide search costs ten times as much.
    play_most_first(played, effort, width=1)
    if proof.undecided_ways:
        play_most_first(played, effort)
    for width in WIDTHS:
        if proof.undecided_ways:
            part = effort.part(effort.steps // 4)
            _widen(played, part, width)
            effort.give_back(part)
    if proof.undecided_ways:
        _slice_rest(proof, effort)
    proof.stopped = effort.stopped
    return proof


def bounds_from(net: WayNet, at: int, keys: int, effort: Effort) -> KeyBounds:
    """Bound the keys at every section for somebody who starts somewhere with some keys.

    Without the effort for it the bounds are those that always hold: anything anywhere.
    """
    out = net.out
    may, must = [_UNSEEN] * len(out), [0] * len(out)
    may[at] = must[at] = keys
    waiting = deque([at])
    is_waiting = bytearray(len(out))
    while waiting:
        section = waiting.popleft()
        is_waiting[section] = 0
        if not effort.spend(len(out[section]) + 1):
            return _no_bounds(net)
        most, least = may[section], must[section]
        for _, to, need, forbid, keep, gain in out[section]:
            if need & ~most or forbid & least:
                continue
            more = most & ~forbid & keep | gain
            less = (least | need) & keep | gain
            if may[to] == _UNSEEN:
                may[to], must[to] = more, less
            else:
                more |= may[to]
                less &= must[to]
                if more == may[to] and less == must[to]:
                    continue
                may[to], must[to] = more, less
            if not is_waiting[to]:
                is_waiting[to] = 1
                waiting.append(to)
    return KeyBounds(may, must)


def _no_bounds(net: WayNet) -> KeyBounds:
    every = (1 << len(net.bits)) - 1
    return KeyBounds([every] * len(net.out), [0] * len(net.out))


def _exact(net: WayNet, played: Playthroughs, effort: Effort) -> BracketProof:
    size = len(net.ids)
    may, must = [_UNSEEN] * size, [0] * size
    for _, section, keys in played.places():
        if may[section] == _UNSEEN:
            may[section] = must[section] = keys
        else:
            may[section] |= keys
            must[section] &= keys
    proof = BracketProof(net, KeyBounds(may, must), played, stopped=effort.stopped)
    proof.never = {s for s in range(size) if played.first[s] == NOWHERE}
    proof.never_ways = {w for w in range(len(net.choices)) if not played.taken[w]}
    return proof


def _close(proof: BracketProof) -> None:
    bounds = proof.bounds
    for section, ways in enumerate(proof.net.out):
        if not bounds.is_there(section):
            proof.never.add(section)
            proof.never_ways.update(way.number for way in ways)
            continue
        for way in ways:
            if (way.need or way.forbid) and not bounds.may_open(section, way):
                proof.never_ways.add(way.number)


def _widen(played: Playthroughs, effort: Effort, width: int) -> None:
    # Another order visits other sets of keys: fewest first meets what asks for an absence.
    other = play_few_first(begun(played.net), effort, width=width)
    found = [s for s, place in enumerate(other.first) if played.first[s] == NOWHERE != place]
    known = {0: 0}
    for section in found:
        played.graft(other, other.first[section], known)
    for number, is_taken in enumerate(other.taken):
        if is_taken:
            played.taken[number] = 1
    if found:
        play_most_first(played, effort, [played.first[s] for s in found])


def _slice_rest(proof: BracketProof, effort: Effort) -> None:
    """Play out slices for what is left, the keys that most depends on first."""
    tried: set[int] = set()
    while effort.steps > 0:
        masks: dict[int, int] = {}
        for section, way in proof.undecided_ways:
            about = way.need | way.forbid
            masks[about] = masks.get(about, 0) + 1
            wider = about | _asked_before(proof.net, section)
            masks.setdefault(wider, 0)
        fresh = [m for m in masks if m not in tried and m.bit_count() <= WIDEST_SLICE]
        if not fresh:
            return
        chosen = min(fresh, key=lambda mask: (mask.bit_count(), -masks[mask], mask))
        tried.add(chosen)
        _decide_slice(proof, chosen, effort)


def _asked_before(net: WayNet, section: int) -> int:
    asked = 0
    for number in net.incoming[section]:
        asked |= net.ways[number].need | net.ways[number].forbid
    return asked


def _decide_slice(proof: BracketProof, about: int, effort: Effort) -> None:
    found = _play_slice(proof, about, effort, as_met=False)
    known = {0: 0}
    seeds = [
        proof.played.graft(found, found.first[section], known)
        for section in proof.undecided
        if found.first[section] != NOWHERE
    ]
    for number, is_taken in enumerate(found.taken):
        if is_taken:
            proof.played.taken[number] = 1
    if seeds:
        play_most_first(proof.played, effort, seeds)
    most = _play_slice(proof, about, effort, as_met=True)
    if most.is_whole:
        first = proof.played.first
        proof.never.update(
            s for s, at in enumerate(most.first) if at == NOWHERE and first[s] == NOWHERE
        )
        proof.never_ways.update(w for w, is_taken in enumerate(most.taken) if not is_taken)


def _play_slice(proof: BracketProof, about: int, effort: Effort, *, as_met: bool) -> Playthroughs:
    """Play with only some keys; conditions on others are met, or met only where they must be."""
    net, bounds = proof.net, proof.bounds
    played = Playthroughs(net)
    played.add(net.start, net.begins_with & about, NOWHERE, NOWHERE)
    seen: list[set[int]] = [set() for _ in net.ids]
    seen[net.start].add(net.begins_with & about)
    waiting = deque([0])
    while waiting:
        place = waiting.popleft()
        section, keys = played.section[place], played.keys[place]
        ways = net.out[section]
        if not effort.spend(len(ways) + 1):
            return played
        for way in ways:
            if way.need & about & ~keys or way.forbid & about & keys:
                continue
            is_open = bounds.may_open if as_met else bounds.must_open
            if (way.need | way.forbid) & ~about and not is_open(section, way, about):
                continue
            played.taken[way.number] = 1
            after = (keys & way.keep | way.gain) & about
            if after not in seen[way.to]:
                seen[way.to].add(after)
                waiting.append(played.add(way.to, after, place, way.number))
    played.is_whole = True
    return played

"""Locks: places that somebody can come to and from which no end can be reached.

A lock is proved by a playthrough to a place from which even bounds reach no end; that there is none
is proved for every section that is free. The rest is undecided.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.bars.brackets import BracketProof, bounds_from
from callboard.packs.questfoundry.bars.freedom import FreeSections
from callboard.packs.questfoundry.bars.ways import Effort, WayNet

# From so many places of a section it is tried to prove a lock.
_PLACES: Final = 3


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
    free = FreeSections(proof, effort)
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
        for number in net.incoming[waiting.pop()]:
            section = net.source[number]
            if section not in found:
                found.add(section)
                waiting.append(section)
    return found


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

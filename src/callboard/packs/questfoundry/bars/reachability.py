"""Reachability: what the proofs say of a book, told by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from callboard.packs.questfoundry.bars.brackets import BracketProof, bracket
from callboard.packs.questfoundry.bars.checks import found
from callboard.packs.questfoundry.bars.locks import LockProof, endless_sections, find_locks
from callboard.packs.questfoundry.bars.nonlinearity import rings
from callboard.packs.questfoundry.bars.ways import Effort, WayNet
from callboard.packs.questfoundry.book.model import Book, SectionKind
from callboard.packs.questfoundry.verdict import BarFinding, BarStatus

_MOST_STEPS_TOLD: Final = 12


@dataclass(frozen=True, slots=True)
class BookProof:
    """Everything that is proved of the ways of a book."""

    reach: BracketProof
    endless: set[int]
    locks: LockProof


def prove(net: WayNet, effort: Effort) -> BookProof:
    """Prove what can be reached, and from where an end can be."""
    # What cannot be decided must not take all from what could be.
    part = effort.part(2 * effort.steps // 3)
    reach = bracket(net, part)
    effort.give_back(part)
    endless = endless_sections(net)
    locks = find_locks(reach, endless, effort)
    reach.stopped = effort.stopped or part.stopped
    return BookProof(reach, endless, locks)


def read_reachability(book: Book, proof: BookProof) -> Iterator[BarFinding]:
    """Tell what cannot be reached, what cannot be left, and what nobody could decide."""
    reach, net = proof.reach, proof.reach.net
    ends = [s for s, is_end in enumerate(net.is_end) if is_end]
    if all(end in reach.never for end in ends):
        told = "the book has no end" if not ends else "no playthrough reaches any end"
        yield found("no_end", "book", told, status=_unless_read(book))
    yield from _sections(book, reach)
    yield from _ways(reach)
    yield from _no_way_out(book, proof)
    unread = sorted(book.unread)
    if unread:
        told = f"code that is not understood stands in {', '.join(unread[:9])}"
        yield found("unread_code", "book", told)


def facts_of(proof: BookProof) -> tuple[str, ...]:
    """Say how much was decided and how."""
    reach = proof.reach
    how = "every place was played" if reach.played.is_whole else "proved by brackets"
    counts = (
        f"{len(reach.net.ids)} sections: {len(reach.reached)} with a playthrough,"
        f" {len(reach.never)} never, {len(reach.undecided)} undecided ({how})"
    )
    if not reach.stopped:
        return (counts,)
    why = "the steps" if reach.stopped == "steps" else "the time; another run may decide more"
    return counts, f"the proofs stopped at the end of {why}"


def _sections(book: Book, reach: BracketProof) -> Iterator[BarFinding]:
    ids = reach.net.ids
    for number in sorted(reach.never):
        section = book.by_id[ids[number]]
        matters = section.keystone or section.kind is SectionKind.TERMINAL
        told = "no playthrough reaches it"
        told += ", unless code that is not understood leads here" if book.unread else ""
        status = (_unless_read(book) or BarStatus.RED) if matters else None
        yield found("unreachable", section.id, told, status=status)
    for number in reach.undecided:
        yield found("unreachable_undecided", ids[number], "neither reached nor ruled out")


def _ways(reach: BracketProof) -> Iterator[BarFinding]:
    net = reach.net
    for number in sorted(reach.never_ways):
        if net.source[number] not in reach.never:
            told = "nobody who comes here can take it"
            yield found("choice_never_open", net.place_of(number), told)
    for _, way in reach.undecided_ways:
        keys = ", ".join(net.keys_in(way.need | way.forbid))
        yield found("choice_undecided", net.place_of(way.number), f"it asks for {keys}")


def _unless_read(book: Book) -> BarStatus | None:
    """Return how sure a proof is that holds only if code nobody understood leads nowhere else."""
    return BarStatus.YELLOW if book.unread else None


def _no_way_out(book: Book, proof: BookProof) -> Iterator[BarFinding]:
    reach, net = proof.reach, proof.reach.net
    there = {section for section in proof.endless if section not in reach.never}
    for ring in rings(net, there):
        names = ", ".join(net.ids[each] for each in ring[:9])
        is_read = book.unread.isdisjoint(net.ids[each] for each in ring)
        status = None if is_read else BarStatus.YELLOW
        told = f"round and round: {names}"
        yield found("ring_without_exit", net.ids[ring[0]], told, status=status)
    for lock in proof.locks.locks:
        keys = ", ".join(net.keys_in(lock.keys)) or "no key that is asked for"
        told = f"reached with {keys}, by {_path(lock.path)}"
        yield found("soft_lock", net.ids[lock.section], told)
    for section in proof.locks.undecided:
        told = "not proved that everybody who comes here can end"
        yield found("soft_lock_undecided", net.ids[section], told)


def _path(choices: Iterable[str]) -> str:
    path = list(choices)
    if not path:
        return "opening the book"
    told = " → ".join(path[-_MOST_STEPS_TOLD:])
    return told if len(path) <= _MOST_STEPS_TOLD else f"{len(path)} choices, at last {told}"

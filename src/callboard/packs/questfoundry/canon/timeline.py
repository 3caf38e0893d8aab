"""Timeline: what is known of the order of events, from chains that share some of them.

An order nobody told is unknown: two events without a way between them are neither before nor after.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise

from callboard.library.story.contradiction import ALWAYS, ScenePoint, SceneRange, find_point
from callboard.packs.questfoundry.book.model import CanonStatement

# Between two events of a chain stands a knot that is no event, so that many at one moment are few
# ways.
_Knot = tuple[str, int, int]
_Place = str | _Knot


class Timeline:
    """The events of a canon."""

    def __init__(self, events: Iterable[CanonStatement]) -> None:
        """Take the events, of all chains."""
        self._events = sorted(
            (each for each in events if each.kind == "event"), key=lambda e: (e.chain, e.order)
        )
        self._after: dict[_Place, list[_Place]] = {each.about: [] for each in self._events}
        self._reached: dict[str, frozenset[_Place]] = {}
        for chain, rows in groupby(self._events, key=lambda each: each.chain):
            moments = [list(group) for _, group in groupby(rows, key=lambda each: each.order)]
            for number, (one, other) in enumerate(pairwise(moments)):
                knot: _Knot = ("knot", chain, number)
                self._after[knot] = [each.about for each in other]
                for each in one:
                    self._after[each.about].append(knot)

    def _sorter(self) -> TopologicalSorter[_Place]:
        sorter: TopologicalSorter[_Place] = TopologicalSorter()
        for place, later in self._after.items():
            sorter.add(place)
            for each in later:
                sorter.add(each, place)
        return sorter

    @cached_property
    def circle(self) -> tuple[str, ...]:
        """Events that each come before the next and the last before the first; none if sound."""
        try:
            self._sorter().prepare()
        except CycleError as error:
            found: Sequence[_Place] = error.args[1]
            return tuple(each for each in found[:-1] if isinstance(each, str))
        return ()

    @cached_property
    def _position(self) -> dict[str, int]:
        if self.circle:
            return {}
        order = [each for each in self._sorter().static_order() if isinstance(each, str)]
        return {name: number for number, name in enumerate(order, start=1)}

    @property
    def in_order(self) -> tuple[str, ...]:
        """The ids of the events, each after all before it; empty if they run in a circle."""
        return tuple(self._position)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield events with the next of their chain; of many at one moment, the first stands."""
        for _, rows in groupby(self._events, key=lambda each: each.chain):
            yield from pairwise(
                next(group).about for _, group in groupby(rows, key=lambda each: each.order)
            )

    def is_before(self, one: str, other: str) -> bool:
        """Say whether one event is known to come before another."""
        if one not in self._reached:
            seen: set[_Place] = set()
            waiting: list[_Place] = list(self._after.get(one, ()))
            while waiting:
                each = waiting.pop()
                if each not in seen:
                    seen.add(each)
                    waiting += self._after.get(each, ())
            self._reached[one] = frozenset(seen)
        return other in self._reached[one]

    def scope(self, since: str) -> SceneRange | None:
        """Return from when something holds; None where the words name no moment anybody knows."""
        if not since:
            return ALWAYS
        if since in self._position:
            return SceneRange(ScenePoint(self._position[since]))
        point = None if self._position else find_point(since)
        return None if point is None else SceneRange(point)

    def are_ordered(self, sinces: Iterable[str]) -> bool:
        """Say whether all of these moments are known, and which of them comes before which."""
        named = {each for each in sinces if each}
        if len(named) < 2:
            return True
        if any(self.scope(each) is None for each in named):
            return False
        ordered = sorted(named, key=lambda each: self._position.get(each, 0))
        if not self._position:
            return True
        return all(self.is_before(one, other) for one, other in pairwise(ordered))

    def ways_round(self) -> Iterator[tuple[str, str]]:
        """Yield what the newest chain says against the others, if the events run in a circle."""
        if not self.circle:
            return
        ring = list(self.circle)
        newest = max(each.chain for each in self._events)
        at = {each.about: each.order for each in self._events if each.chain == newest}
        for number, one in enumerate(ring):
            other = ring[(number + 1) % len(ring)]
            if one in at and other in at and at[one] < at[other]:
                turned = [*ring[number + 1 :], *ring[: number + 1]]
                yield f"{one} before {other}", " before ".join(turned)
                return
        yield f"{ring[-1]} before {ring[0]}", " before ".join(ring)

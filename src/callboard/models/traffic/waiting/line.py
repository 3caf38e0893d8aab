"""The line: calls that wait, and who is next. Knows no slots, no tasks and no time.

The highest priority goes first. Among equals a call that has started before goes ahead; then the
sessions take turns, each in the order its calls arrived. The interactive class does not take turns:
there the order of arrival counts across all sessions.
"""

from bisect import insort
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

from callboard.models.traffic.limits.credential import Credential
from callboard.models.traffic.priority import is_interactive
from callboard.models.traffic.waiting.call import Call

_EVERYBODY: Final = ""


class Ring:
    """Calls of one credential and one priority: those that started before, then in turns."""

    def __init__(self) -> None:
        """Start empty."""
        # At most as many as ever held a slot at once, so a sorted list is small enough.
        self.again: list[Call] = []
        # The first session is the next to be served; OrderedDict pops its front in constant time.
        self.sessions: OrderedDict[str | None, OrderedDict[int, Call]] = OrderedDict()
        self.size = 0

    def add(self, call: Call) -> None:
        """Put a call behind those it has to wait for."""
        self.size += 1
        if call.goes_first:
            insort(self.again, call, key=lambda each: each.number)
        else:
            self.sessions.setdefault(_turn_key(call), OrderedDict())[call.number] = call

    def remove(self, call: Call, *, was_served: bool) -> None:
        """Take a call out; a session that was served goes to the end of the round."""
        self.size -= 1
        if call.goes_first:
            self.again.remove(call)
            return
        key = _turn_key(call)
        calls = self.sessions[key]
        del calls[call.number]
        if not calls:
            del self.sessions[key]
        elif was_served:
            self.sessions.move_to_end(key)

    def first(self, may_start: Callable[[Call], bool]) -> Call | None:
        """Return the next call that may start."""
        for call in self.again:
            if may_start(call):
                return call
        for calls in self.sessions.values():
            call = next(iter(calls.values()))
            if may_start(call):
                return call
        return None

    def __iter__(self) -> Iterator[Call]:
        """Go through all calls."""
        yield from self.again
        for calls in self.sessions.values():
            yield from calls.values()


class Line:
    """Everybody who waits, by credential and priority."""

    def __init__(self) -> None:
        """Start empty."""
        self._lanes: dict[Credential, dict[int, Ring]] = {}
        # When each session was last served, kept while it has calls here; who was never served
        # counts as served on arrival, so that newcomers cannot push the others back for ever.
        self._served: dict[str | None, int] = {}
        self._waiting: dict[str | None, int] = {}
        self._round = 0
        self._size = 0

    def __len__(self) -> int:
        """Return how many wait."""
        return self._size

    def __iter__(self) -> Iterator[Call]:
        """Go through all calls that wait."""
        for lane in self._lanes.values():
            for ring in lane.values():
                yield from ring

    def add(self, call: Call) -> None:
        """Let a call wait."""
        lane = self._lanes.setdefault(call.credential, {})
        lane.setdefault(call.priority, Ring()).add(call)
        call.is_waiting = True
        self._size += 1
        self._waiting[call.session] = self._waiting.get(call.session, 0) + 1
        self._served.setdefault(call.session, self._round)

    def remove(self, call: Call, *, was_served: bool = False) -> None:
        """Take a call out, because its turn has come or because nobody wants it any more."""
        lane = self._lanes[call.credential]
        ring = lane[call.priority]
        ring.remove(call, was_served=was_served)
        if not ring.size:
            del lane[call.priority]
        if not lane:
            del self._lanes[call.credential]
        call.is_waiting = False
        self._size -= 1
        if was_served:
            self._round += 1
            self._served[call.session] = self._round
        left = self._waiting[call.session] - 1
        self._waiting[call.session] = left
        if not left:
            del self._waiting[call.session], self._served[call.session]

    def first(
        self, is_open: Callable[[Credential], bool], may_start: Callable[[Call], bool]
    ) -> Call | None:
        """Return who is next among the credentials that are open."""
        best: Call | None = None
        for credential, lane in self._lanes.items():
            if not is_open(credential):
                continue
            call = _first_of(lane, may_start)
            if call is not None and (best is None or self._rank(call) < self._rank(best)):
                best = call
        return best

    def interactive(self) -> Iterator[tuple[Credential, int]]:
        """Return for each credential how many calls wait on which a human waits."""
        for credential, lane in self._lanes.items():
            count = sum(ring.size for priority, ring in lane.items() if is_interactive(priority))
            if count:
                yield credential, count

    def _rank(self, call: Call) -> tuple[int, int, int]:
        turn = -1 if call.goes_first or call.is_interactive else self._served[call.session]
        return -call.priority, turn, call.number


def _first_of(lane: dict[int, Ring], may_start: Callable[[Call], bool]) -> Call | None:
    for priority in sorted(lane, reverse=True):
        call = lane[priority].first(may_start)
        if call is not None:
            return call
    return None


def _turn_key(call: Call) -> str | None:
    return _EVERYBODY if call.is_interactive else call.session

"""The line before the models: each call on its way through it, and who is next.

Knows no slots, no tasks and no time.

No task is started for a call: it waits and streams in the task of whoever reads it.

The highest priority goes first. Among equals a call that has started before goes ahead; then the
sessions take turns, each in the order its calls arrived. The interactive class does not take turns:
there the order of arrival counts across all sessions.
"""

import asyncio
from bisect import insort
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from callboard.core.errors import CallboardError
from callboard.models.traffic.limit_state import Credential, Ticket
from callboard.models.traffic.priority import is_interactive
from callboard.models.types import Chunk, ModelRequest, Restarted, TextChunk


class GaveWay(Exception):
    """Raised in a stream that makes room for the user."""


@dataclass(slots=True, eq=False)
class QueuedCall:
    """A request with its place in the queue; `number` is the order of arrival."""

    number: int
    request: ModelRequest
    priority: int
    credential: Credential
    is_interactive: bool = field(init=False)
    """Whether a human is waiting for it."""
    ticket: Ticket | None = None
    """Set while the call holds a slot."""
    is_waiting: bool = False
    goes_first: bool = False
    """It has started before and goes ahead of its equals."""
    is_read: bool = True
    """Whether the reader is inside the stream; otherwise it is busy with the last chunk."""
    is_leaving: bool = False
    preemptions: int = 0
    limited: int = 0
    limited_by: Credential | None = None
    """The credential that turned out to be limited, when it is not the one it waited for."""
    parts: list[str] = field(default_factory=list[str])
    output_chars: int = 0
    _turn: "asyncio.Future[None] | None" = None
    _task: "asyncio.Task[object] | None" = None
    _was_cancelled: bool = False

    def __post_init__(self) -> None:
        """Look the class up once; it is asked for at every turn."""
        self.is_interactive = is_interactive(self.priority)

    @property
    def session(self) -> str | None:
        """The session it belongs to, if any."""
        return self.request.session_id

    @property
    def is_ending(self) -> bool:
        """Whether it frees its slot soon: it was asked to, or has its answer."""
        return self.is_leaving or self.request.ending.is_answered

    @property
    def partial(self) -> str:
        """The text that has arrived since it last started."""
        return "".join(self.parts)

    def grant(self, ticket: Ticket) -> None:
        """Give it a slot and wake its reader."""
        self.ticket = ticket
        if self._turn is not None and not self._turn.done():
            self._turn.set_result(None)

    def refuse(self, error: CallboardError) -> None:
        """Wake its reader with an error."""
        self._future().set_exception(error)
        # A reader that is away hears of it when it comes back, or never; both are fine.
        self._future().exception()

    async def wait(self) -> None:
        """Wait for a slot."""
        if self.ticket is None:
            await self._future()

    def start(self) -> None:
        """Begin a new attempt."""
        self._turn = None
        self.request.ending.reason = ""
        self.request.ending.is_answered = False
        self.parts.clear()
        self.output_chars = 0

    def give_way(self) -> None:
        """Ask it to leave its slot: now if it is waiting for its provider, else when read again."""
        self.is_leaving = True
        self.request.ending.reason = "preempted"
        if self._task is not None and not self._was_cancelled:
            self._was_cancelled = True
            self._task.cancel()

    async def pull(self, chunks: AsyncGenerator[Chunk]) -> Chunk | None:
        """Return the next chunk, None at the end; raise `GaveWay` if it has to leave."""
        if self.is_leaving:
            raise GaveWay
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine of asyncio always runs in a task
        before = task.cancelling()
        self._task = task
        try:
            chunk = await anext(chunks, None)
        except asyncio.CancelledError:
            if self._took_back(task) and task.cancelling() <= before:
                raise GaveWay from None
            raise
        finally:
            self._task = None
            self._took_back(task)
        self._note(chunk)
        return chunk

    def _took_back(self, task: "asyncio.Task[object]") -> bool:
        """Undo our own cancellation, so that only that of others is left; say if there was one."""
        if not self._was_cancelled:
            return False
        self._was_cancelled = False
        task.uncancel()
        return True

    def _note(self, chunk: Chunk | None) -> None:
        if isinstance(chunk, TextChunk):
            self.parts.append(chunk.text)
            self.output_chars += len(chunk.text)
        elif isinstance(chunk, Restarted):
            self.parts.clear()
            self.output_chars = 0

    def _future(self) -> "asyncio.Future[None]":
        if self._turn is None:
            self._turn = asyncio.get_running_loop().create_future()
        return self._turn


_EVERYBODY: Final = ""


class Ring:
    """Calls of one credential and one priority: those that started before, then in turns."""

    def __init__(self) -> None:
        """Start empty."""
        # At most as many as ever held a slot at once, so a sorted list is small enough.
        self.again: list[QueuedCall] = []
        # The first session is the next to be served; OrderedDict pops its front in constant time.
        self.sessions: OrderedDict[str | None, OrderedDict[int, QueuedCall]] = OrderedDict()
        self.size = 0

    def add(self, call: QueuedCall) -> None:
        """Put a call behind those it has to wait for."""
        self.size += 1
        if call.goes_first:
            insort(self.again, call, key=lambda each: each.number)
        else:
            self.sessions.setdefault(_turn_key(call), OrderedDict())[call.number] = call

    def remove(self, call: QueuedCall, *, was_served: bool) -> None:
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

    def first(self, may_start: Callable[[QueuedCall], bool]) -> QueuedCall | None:
        """Return the next call that may start."""
        for call in self.again:
            if may_start(call):
                return call
        for calls in self.sessions.values():
            call = next(iter(calls.values()))
            if may_start(call):
                return call
        return None

    def __iter__(self) -> Iterator[QueuedCall]:
        """Go through all calls."""
        yield from self.again
        for calls in self.sessions.values():
            yield from calls.values()


class WaitingLine:
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

    def __iter__(self) -> Iterator[QueuedCall]:
        """Go through all calls that wait."""
        for lane in self._lanes.values():
            for ring in lane.values():
                yield from ring

    def add(self, call: QueuedCall) -> None:
        """Let a call wait."""
        lane = self._lanes.setdefault(call.credential, {})
        lane.setdefault(call.priority, Ring()).add(call)
        call.is_waiting = True
        self._size += 1
        self._waiting[call.session] = self._waiting.get(call.session, 0) + 1
        self._served.setdefault(call.session, self._round)

    def remove(self, call: QueuedCall, *, was_served: bool = False) -> None:
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
        self, is_open: Callable[[Credential], bool], may_start: Callable[[QueuedCall], bool]
    ) -> QueuedCall | None:
        """Return who is next among the credentials that are open."""
        best: QueuedCall | None = None
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

    def _rank(self, call: QueuedCall) -> tuple[int, int, int]:
        turn = -1 if call.goes_first or call.is_interactive else self._served[call.session]
        return -call.priority, turn, call.number


def _first_of(lane: dict[int, Ring], may_start: Callable[[QueuedCall], bool]) -> QueuedCall | None:
    for priority in sorted(lane, reverse=True):
        call = lane[priority].first(may_start)
        if call is not None:
            return call
    return None


def _turn_key(call: QueuedCall) -> str | None:
    return _EVERYBODY if call.is_interactive else call.session

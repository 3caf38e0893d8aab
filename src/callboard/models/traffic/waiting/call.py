"""One call on its way through the queue: where it stands, and how it is made to give way.

No task is started for a call: it waits and streams in the task of whoever reads it.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from callboard.core.errors import CallboardError
from callboard.models.traffic.limits.credential import Credential
from callboard.models.traffic.limits.state import Ticket
from callboard.models.traffic.priority import is_interactive
from callboard.models.types import Chunk, ModelRequest, Restarted, TextChunk


class GaveWay(Exception):
    """Raised in a stream that makes room for the user."""


@dataclass(slots=True, eq=False)
class Call:
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

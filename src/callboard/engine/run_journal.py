"""RunJournal: what an execution writes, in order, as long as its claim on the run holds."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from callboard.core.errors import CallboardError
from callboard.core.events import EventBody
from callboard.core.vocabulary.run import RunRecord, StepRecord
from callboard.engine.errors import JournalUnavailable, RecordRefused, TakenOver
from callboard.engine.scope import Backstage
from callboard.store.backlog import Backlog
from callboard.store.connection import Connection, StoreError
from callboard.store.journal.events import event_row
from callboard.store.journal.runs import Owner, holds
from callboard.store.writer import RowRefused, Rows, Statement, Work

T = TypeVar("T")


class _NotOwner(Exception):
    """The run's row says that another process owns it."""


def _halt(error: Exception) -> BaseException:
    """Return how an execution ends whose record could not be stored."""
    if isinstance(error, RowRefused | _NotOwner):
        return TakenOver()
    return JournalUnavailable(error) if isinstance(error, StoreError) else RecordRefused(error)


class RunJournal:
    """Writes on behalf of one execution of a run; what it cannot write ends the execution."""

    def __init__(self, backstage: Backstage, record: RunRecord, owner: Owner) -> None:
        """Take the run and the claim under which it is executed."""
        self.backstage = backstage
        self.record = record
        self.owner = owner
        self.task: asyncio.Task[None] | None = None
        # What was handed in and gone on without. Everything the run writes is stored in its order.
        self.backlog = self._new_backlog()
        # The step whose record was refused, if one was.
        self.refused: StepRecord | None = None
        # Why the execution stopped without an end, if the journal could not be written.
        self.interruption: CallboardError | None = None
        # Whether the execution is ending anyway, so that nothing need stop it.
        self.is_ending = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Commit something on behalf of the run; a failure here ends the execution.

        Nothing is committed once the claim no longer holds under which the run is executed.
        """

        def fenced(connection: Connection) -> T:
            self.guard(holds(connection, self.record.id, self.owner))
            return work(connection)

        try:
            return await self.backstage.database.write(fenced, self.backlog)
        except Exception as error:
            self.backlog.check()
            if isinstance(error, _NotOwner | StoreError):
                raise _halt(error) from error
            raise

    def hand_in(
        self, work: "Work[Any] | Rows", size_bytes: int, *, has_companions: bool = False
    ) -> None:
        """Have a record stored soon and go on: nothing leaves before it is on disk.

        Its unit must see to it that the claim still holds under which the run is executed.
        """
        self.backlog.check()
        self.backstage.database.hand_in(work, self.backlog)
        self.backlog.count(size_bytes, has_companions=has_companions)

    def forget_backlog(self) -> None:
        """Write no longer behind a record that was refused."""
        self.backlog = self._new_backlog()

    def _new_backlog(self) -> Backlog:
        return Backlog(self.backstage.database.hasten, _halt, self._fall_behind)

    def _fall_behind(self, error: Exception) -> None:
        """Stop, because something the run has gone on from could not be stored."""
        if isinstance(error, StoreError):
            self.interruption = error
        if self.task is not None and not self.is_ending:
            self.task.cancel()

    def guard(self, allowed: bool) -> None:
        """Abort a transaction that this process has no right to make."""
        if not allowed:
            raise _NotOwner

    def event(self, connection: Connection, body: EventBody, key: str | None = None) -> None:
        """Append an event of this run to an open transaction."""
        connection.execute(*self.event_row(body, key))

    def event_row(self, body: EventBody, key: str | None) -> Statement:
        """Return the insert of an event of this run."""
        now = self.backstage.clock.now_ms()
        return event_row(body, now, self.record.session_id, self.record.id, key)

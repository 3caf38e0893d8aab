"""The outbox: calls handed to the ledger that are not durable yet.

Whoever made a call does not wait for the disk. That is safe because the store commits in the order
in which it is given work: nothing a caller stores of a reply is durable before the call is on
record. A call that could not be stored stays here, and nothing new is asked until it is; nor if
the disk is too far behind, so that no memory is filled with calls.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from callboard.models.accounts.booking import book_call
from callboard.models.accounts.calls import CallRecord, Outcome, is_on_record
from callboard.models.accounts.subscriptions import Subscription
from callboard.store.connection import Connection
from callboard.store.database import Database

_log = logging.getLogger(__name__)

# So many calls may wait for the disk before new ones wait for them.
MOST_UNDER_WAY: Final = 256


@dataclass(frozen=True, slots=True)
class _Entry:
    """One call to be booked, and the reservation it was made on."""

    call: CallRecord
    now_ms: int
    hold_id: str | None


class Outbox:
    """Books calls without letting anybody wait for it."""

    def __init__(
        self,
        database: Database,
        subscriptions: Iterable[Subscription],
        on_booked: Callable[[], None],
    ) -> None:
        """Take where to book; `on_booked` hears of every call that has become durable."""
        self._database = database
        self._subscriptions = tuple(subscriptions)
        self._on_booked = on_booked
        self._under_way: set[asyncio.Future[None]] = set()
        self._refused: list[_Entry] = []
        self._reason: BaseException | None = None
        # Reservations that a booking handed in here will close.
        self._closing: set[str] = set()

    @property
    def is_behind(self) -> bool:
        """Whether the store has refused a call, or has too many still to store."""
        return bool(self._refused) or len(self._under_way) >= MOST_UNDER_WAY

    def hand_in(self, call: CallRecord, now_ms: int, hold_id: str | None) -> None:
        """Have a call booked with the next commit."""
        # A call that went well is the last one a reservation was taken for.
        if hold_id is not None and call.outcome is Outcome.OK:
            self._closing.add(hold_id)
        self._post(_Entry(call, now_ms, hold_id))

    def closes(self, hold_id: str) -> bool:
        """Say, once, whether a booking handed in here closes a reservation."""
        if hold_id not in self._closing:
            return False
        self._closing.discard(hold_id)
        return True

    async def flush(self) -> None:
        """Return when every call is durable; raise what the store has against it."""
        again, self._refused = self._refused, []
        for entry in again:
            self._post(entry, is_repeated=True)
        while self._under_way:
            await asyncio.wait(self._under_way)
        if self._refused and self._reason is not None:
            raise self._reason

    def _post(self, entry: _Entry, *, is_repeated: bool = False) -> None:
        def work(connection: Connection) -> None:
            if is_repeated and is_on_record(connection, entry.call.id):
                return
            book_call(connection, entry.call, entry.now_ms, self._subscriptions, entry.hold_id)

        def settled(future: "asyncio.Future[None]") -> None:
            self._under_way.discard(future)
            error = None if future.cancelled() else future.exception()
            if error is None:
                self._on_booked()
                return
            _log.warning("call %s is not on record yet: %s", entry.call.id, error)
            self._refused.append(entry)
            self._reason = error

        future = self._database.enqueue(work)
        self._under_way.add(future)
        future.add_done_callback(settled)

"""Booking: one call put on record on all its accounts, with its event, and the outbox before.

Whoever made a call does not wait for the disk. That is safe because the store commits in the order
in which it is given work: nothing a caller stores of a reply is durable before the call is on
record. A call that could not be stored stays here, and nothing new is asked until it is; nor if
the disk is too far behind, so that no memory is filled with calls.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.events import CallMetered, QuotaWarning
from callboard.models.accounts.amounts import MICROUSD_PER_USD, Amounts
from callboard.models.accounts.budgets import add_spent, load_budgets
from callboard.models.accounts.calls import CallOutcome, CallRecord, insert_call, is_on_record
from callboard.models.accounts.reservations import Hold, close, list_holds, shrink
from callboard.models.accounts.scopes import Scope, ScopeKind, Spender
from callboard.models.accounts.subscriptions import Subscription, record_usage
from callboard.models.catalog import provider_of
from callboard.models.types import Usage
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.events import append_event

_log = logging.getLogger(__name__)


PROCESS_DIED = "process_died"


def book_call(
    connection: Connection,
    call: CallRecord,
    now_ms: int,
    subscriptions: Iterable[Subscription] = (),
    hold_id: str | None = None,
) -> CallRecord:
    """Store a call, add it to its accounts and take it from what was held back for it."""
    spend(connection, call.spender, call.amounts, now_ms, subscriptions)
    booked = insert_call(connection, call)
    if hold_id is not None:
        shrink(connection, hold_id, booked.amounts)
        # A call that went well is the last one a reservation was taken for.
        if booked.outcome is CallOutcome.OK:
            close(connection, hold_id)
    _tell(connection, booked, now_ms)
    return booked


def spend(
    connection: Connection,
    spender: Spender,
    amounts: Amounts,
    now_ms: int,
    subscriptions: Iterable[Subscription] = (),
) -> None:
    """Add an amount to all accounts of its spender and tell everybody who must know."""
    # Before the call is stored: a period's row that is new is made from the calls on record.
    for plan in subscriptions:
        if plan.provider == spender.provider:
            warning = record_usage(connection, plan, now_ms, spender.session_id, amounts)
            warn_everybody(connection, warning, now_ms)
    add_spent(connection, spender, amounts)


def warn_everybody(connection: Connection, warning: QuotaWarning | None, now_ms: int) -> None:
    """Store a warning that belongs to no session, because it is for all of them."""
    if warning is not None:
        append_event(connection, warning, at=now_ms)


def settle_dead(
    connection: Connection,
    is_alive: Callable[[Connection, str], bool],
    cost: Callable[[str, Usage], int | None],
    now_ms: int,
    subscriptions: Iterable[Subscription] = (),
) -> int:
    """Book what processes that died had held back, and return how many calls that were.

    Whether their calls reached the provider is not known. They are booked in full, because a
    budget that forgets them could be overspent by as many calls as were under way.
    """
    plans = tuple(subscriptions)
    holds = list_holds(connection)
    alive = {each: is_alive(connection, each) for each in {hold.process_id for hold in holds}}
    dead = [hold for hold in holds if not alive[hold.process_id]]
    for hold in dead:
        close(connection, hold.id)
        book_call(connection, _lost_call(hold, cost), now_ms, plans)
    return len(dead)


def book_unanswered(
    connection: Connection,
    is_alive: Callable[[Connection, str], bool],
    cost: Callable[[str, Usage], int | None],
    now_ms: int,
    subscriptions: Iterable[Subscription] = (),
) -> int:
    """Book the calls that processes died of asking, where no budget held anything back for them.

    A prompt is on record before it is sent. One without a reply or a call, of a run that was being
    executed when its process died, may have been sent: what it would have cost is booked.
    """
    plans = tuple(subscriptions)
    rows = unanswered(connection)
    alive = {owner: is_alive(connection, owner) for owner in {row["owner"] for row in rows}}
    lost = [row for row in rows if not alive[row["owner"]]]
    for row in lost:
        usage = Usage(row["total_tokens"], 0)
        spender = Spender(
            model=row["model_id"],
            provider=provider_of(row["model_id"]),
            session_id=row["session_id"],
            run_id=row["run_id"],
            step_key=row["step_key"],
            agent_id=row["agent_id"],
            prompt_id=row["id"],
            estimated_tokens=row["total_tokens"],
        )
        call = CallRecord(
            id=f"call_{row['id'].partition('_')[2]}",
            at=row["created_at"],
            spender=spender,
            outcome=CallOutcome.ABORTED,
            usage=usage,
            microusd=cost(spender.model, usage),
            is_estimated=True,
            error_code=PROCESS_DIED,
        )
        book_call(connection, call, now_ms, plans)
    return len(lost)


def unanswered(connection: Connection) -> list[Any]:
    """Return the prompts of runs in execution that have neither a reply nor a call on record."""
    return connection.execute(
        "SELECT prompts.*, runs.owner FROM runs JOIN prompts ON prompts.run_id = runs.id"
        " WHERE runs.state = 'running' AND runs.owner IS NOT NULL AND prompts.replied_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.prompt_id = prompts.id)"
        " AND NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.prompt_id = prompts.id)"
        " ORDER BY prompts.id"
    ).fetchall()


def _lost_call(hold: Hold, cost: Callable[[str, Usage], int | None]) -> CallRecord:
    given = min(hold.spender.estimated_tokens, hold.amounts.tokens)
    usage = Usage(given, hold.amounts.tokens - given)
    microusd = cost(hold.spender.model, usage)
    return CallRecord(
        # The same however often this is attempted.
        id=hold.id.replace("rsv_", "call_", 1),
        at=hold.at,
        spender=hold.spender,
        outcome=CallOutcome.ABORTED,
        usage=usage,
        microusd=None if microusd is None else max(microusd, hold.amounts.microusd),
        requests=hold.amounts.calls,
        is_estimated=True,
        error_code=PROCESS_DIED,
    )


def _tell(connection: Connection, call: CallRecord, now_ms: int) -> None:
    spender, usage = call.spender, call.usage
    scope = Scope(ScopeKind.RUN, spender.run_id) if spender.run_id else Scope(ScopeKind.PROJECT)
    (budget,) = load_budgets(connection, (scope,))
    cost = None if call.microusd is None else call.microusd / MICROUSD_PER_USD
    body = CallMetered(
        call_id=call.id,
        model=spender.model,
        outcome=call.outcome.value,
        agent_id=spender.agent_id,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cost_usd=cost,
        total_calls=budget.spent.calls,
        total_tokens=budget.spent.tokens,
        total_cost_usd=budget.spent.microusd / MICROUSD_PER_USD,
    )
    append_event(
        connection,
        body,
        at=now_ms,
        session_id=spender.session_id,
        run_id=spender.run_id,
        step_key=spender.step_key,
    )


# So many calls may wait for the disk before new ones wait for them.
MOST_UNDER_WAY: Final = 256


@dataclass(frozen=True, slots=True)
class _OutboxEntry:
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
        self._refused: list[_OutboxEntry] = []
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
        if hold_id is not None and call.outcome is CallOutcome.OK:
            self._closing.add(hold_id)
        self._post(_OutboxEntry(call, now_ms, hold_id))

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

    def _post(self, entry: _OutboxEntry, *, is_repeated: bool = False) -> None:
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

"""Booking: one call put on record, on all its accounts, in one transaction with its event."""

from collections.abc import Callable, Iterable

from callboard.core.events import CallMetered, QuotaWarning
from callboard.models.accounts.amounts import MICROUSD_PER_USD, Amounts
from callboard.models.accounts.budgets import add_spent, load_budgets
from callboard.models.accounts.calls import CallRecord, Outcome, insert_call
from callboard.models.accounts.reservations import Hold, close, list_holds, shrink
from callboard.models.accounts.scopes import Scope, ScopeKind, Spender
from callboard.models.accounts.subscriptions import Subscription, record_usage
from callboard.models.types import Usage
from callboard.store.connection import Connection
from callboard.store.journal.events import append_event

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
        if booked.outcome is Outcome.OK:
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


def _lost_call(hold: Hold, cost: Callable[[str, Usage], int | None]) -> CallRecord:
    given = min(hold.spender.estimated_tokens, hold.amounts.tokens)
    usage = Usage(given, hold.amounts.tokens - given)
    microusd = cost(hold.spender.model, usage)
    return CallRecord(
        # The same however often this is attempted.
        id=hold.id.replace("rsv_", "call_", 1),
        at=hold.at,
        spender=hold.spender,
        outcome=Outcome.ABORTED,
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

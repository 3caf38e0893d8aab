"""Accounts: the one place where calls are priced, reserved, booked and warned about.

The gates `BudgetGate` and `MeterGate` share one; it belongs to a process and its database. It
sends nothing and waits for nobody but the database.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from callboard.core.clock import Clock
from callboard.core.events import PriceUnknown
from callboard.core.ids import IdMaker
from callboard.models.accounts.amounts import Amounts, Dimension, Limits, Prices
from callboard.models.accounts.booking import (
    Outbox,
    book_unanswered,
    settle_dead,
    spend,
    unanswered,
    warn_everybody,
)
from callboard.models.accounts.budgets import Budget, clear_limits, set_limits
from callboard.models.accounts.calls import CallRecord
from callboard.models.accounts.reservations import (
    BudgetRefusal,
    Ceiling,
    Hold,
    ceilings_of,
    close,
    extend,
    is_limited,
    is_open,
    list_holds,
    reserve,
)
from callboard.models.accounts.scopes import DefaultLimits, Scope, Spender, no_limits, spender_of
from callboard.models.accounts.subscriptions import Subscription, UsageStatus, note_block, status_of
from callboard.models.types import ModelRequest, Notify, Usage, say_nothing
from callboard.store.connection import Connection
from callboard.store.database import Database

# What a reply is taken to need when its request sets no limit; more is asked for as it grows.
OUTPUT_TOKENS: Final = 1024
# How often another process is looked at while waiting for what it holds back.
_POLL_SECONDS: Final = 0.2


def everybody_lives(_connection: Connection, _process_id: str) -> bool:
    """Take every process to be alive."""
    return True


class Accounts:
    """Keeps the accounts of one project for the gates of one process."""

    def __init__(
        self,
        database: Database,
        ids: IdMaker,
        clock: Clock,
        *,
        count_tokens: Callable[[str], int],
        prices: Prices | None = None,
        process_id: str = "",
        is_alive: Callable[[Connection, str], bool] = everybody_lives,
        default_limits: DefaultLimits = no_limits,
        subscriptions: Iterable[Subscription] = (),
        is_shared: bool = True,
        call_seconds: float = 120.0,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the store, who this process is, what is allowed, and how texts are counted.

        With `is_shared` sessions that work at the same time share the plans of `subscriptions`
        fairly. `call_seconds` is the time a call is taken to need at most when its request says
        nothing.
        """
        self.clock = clock
        self.prices = prices or Prices()
        self.count_tokens = count_tokens
        self._database = database
        self._ids = ids
        self._process_id = process_id
        self._is_alive = is_alive
        self._defaults = default_limits
        self._subscriptions = tuple(subscriptions)
        self._is_shared = is_shared
        self._call_seconds = call_seconds
        self._notify = notify
        self._told_unpriced: set[str] = set()
        # Counts what was given back; who was refused waits for the next one.
        self.returns = 0
        self._waiting: set[asyncio.Event] = set()
        self._outbox = Outbox(database, self._subscriptions, self._given_back)

    async def start(self) -> int:
        """Book what dead processes left reserved or unanswered; return how many calls that were."""
        left = self._database.read(list_holds)
        asked = self._database.read(unanswered)
        for model in {*(hold.spender.model for hold in left), *(row["model_id"] for row in asked)}:
            await self.prices.prepare(model)
        settled = await self._database.write(self._settle_dead) if left else 0
        return settled + (await self._database.write(self._book_unanswered) if asked else 0)

    def estimate(self, request: ModelRequest) -> int:
        """Return the tokens a prompt is taken to have: as its maker counted, else as counted."""
        known = request.metadata.get("estimated_tokens")
        if isinstance(known, int):
            return known
        return sum(self.count_tokens(message.content) for message in request.messages)

    def spender(self, request: ModelRequest) -> Spender:
        """Return who a request is booked to."""
        return spender_of(request, self.estimate(request))

    def new_call_id(self) -> str:
        """Return an id for a call."""
        return self._ids.make("call")

    def cost(self, request: ModelRequest, usage: Usage) -> int | None:
        """Price a call; tell, once per model, that nobody knows its price."""
        cost = self.prices.cost(request.model, usage)
        if cost is None and request.model not in self._told_unpriced:
            self._told_unpriced.add(request.model)
            text = (
                f"The price of {request.model!r} is not known, so its calls are not counted in"
                " money. Set input_usd and output_usd for it in `models.catalog`."
            )
            self._notify(PriceUnknown(request.model, text), request)
        return cost

    def wanted_ms(self, request: ModelRequest) -> int:
        """Return the time a call may take when no budget shortens it."""
        return round((request.timeout_seconds or self._call_seconds) * 1000)

    async def try_reserve(self, request: ModelRequest) -> Hold | BudgetRefusal | None:
        """Hold back what a call may take; None if nothing limits it."""
        if self._outbox.is_behind:
            # No new spending while what was spent cannot be put on record.
            await self._outbox.flush()
        # Counting tokens takes longer than looking for limits, and mostly there are none.
        caller = spender_of(request, 0)
        if not self._database.read(lambda connection: self._is_limited(connection, caller)):
            return None
        spender = self.spender(request)
        await self.prices.prepare(request.model)
        hold = Hold(
            self._ids.make("reservation"),
            self._process_id,
            self.clock.now_ms(),
            spender,
            self._wanted(request, spender),
        )
        return await self._database.write(lambda connection: self._reserve(connection, hold))

    async def extend(self, hold: Hold, more: Amounts) -> BudgetRefusal | None:
        """Hold back more for a call that is under way."""
        return await self._database.write(
            lambda connection: extend(
                connection, hold.id, more, self._ceilings(connection, hold.spender, hold.at)
            )
        )

    def book(self, call: CallRecord, hold_id: str | None) -> None:
        """Put a call on record without waiting: durable before anything that is stored later."""
        self._outbox.hand_in(call, self.clock.now_ms(), hold_id)

    async def flush(self) -> None:
        """Return when every call is durably on record."""
        await self._outbox.flush()

    async def settle(self, hold: Hold, actual: Amounts) -> None:
        """Close a reservation, booking what its call took unless a meter has done so."""
        if self._outbox.closes(hold.id) or not self._database.read(
            lambda connection: is_open(connection, hold.id)
        ):
            return
        now = self.clock.now_ms()

        def work(connection: Connection) -> None:
            # Nothing booked and nothing said: a gate inside refused it before anybody was asked.
            if close(connection, hold.id) == 0 and actual.tokens:
                spend(connection, hold.spender, actual, now, self._subscriptions)

        await self._database.write(work)
        self._given_back()

    async def given_back(self, seen: int) -> None:
        """Return when something was given back since `returns` was `seen`, or after a while."""
        if self.returns != seen:
            return
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await event.wait()
        finally:
            self._waiting.discard(event)

    async def set_limits(
        self, scope: Scope, limits: Limits, beyond: Limits | None = None
    ) -> Budget:
        """Set a scope's limits, in all or beyond what is spent; what waits for room goes on."""

        def work(connection: Connection) -> Budget:
            more = beyond or Limits()
            # Setting nothing first makes the row, with what the scope has spent so far.
            spent = set_limits(connection, scope, Limits()).spent
            return set_limits(connection, scope, more.on_top_of(spent).over(limits), self._defaults)

        budget = await self._database.write(work)
        self._given_back()
        return budget

    async def clear_limits(self, scope: Scope) -> bool:
        """Remove a scope's limits and say whether there were any."""
        cleared = await self._database.write(lambda connection: clear_limits(connection, scope))
        self._given_back()
        return cleared

    def statuses(self) -> list[UsageStatus]:
        """Return where every limited provider stands in its periods."""
        now = self.clock.now_ms()
        return self._database.read(
            lambda connection: [status_of(connection, each, now) for each in self._subscriptions]
        )

    def _ceilings(self, connection: Connection, spender: Spender, now: int) -> list[Ceiling]:
        return ceilings_of(
            connection,
            spender,
            self._defaults,
            self._subscriptions,
            now,
            is_shared=self._is_shared,
        )

    def _is_limited(self, connection: Connection, spender: Spender) -> bool:
        return is_limited(connection, spender, self._defaults, self._subscriptions)

    def _wanted(self, request: ModelRequest, spender: Spender) -> Amounts:
        said = request.max_tokens or OUTPUT_TOKENS
        usage = Usage(spender.estimated_tokens, said)
        return Amounts(
            microusd=self.cost(request, usage) or 0,
            tokens=spender.estimated_tokens + said,
            calls=1,
            ms=self.wanted_ms(request),
        )

    def _reserve(self, connection: Connection, hold: Hold) -> Hold | BudgetRefusal | None:
        ceilings = self._ceilings(connection, hold.spender, hold.at)
        if not ceilings:
            return None
        if all(each.limits.of(Dimension.TIME) is None for each in ceilings):
            hold = replace(hold, amounts=replace(hold.amounts, ms=0))
        answer = reserve(connection, hold, ceilings)
        is_waiting = isinstance(answer, BudgetRefusal) and not answer.is_final
        # What stands in the way may belong to a process that is no more.
        if is_waiting and self._settle_dead(connection):
            ceilings = self._ceilings(connection, hold.spender, hold.at)
            answer = reserve(connection, hold, ceilings)
        if (
            isinstance(answer, BudgetRefusal)
            and answer.is_final
            and answer.ceiling.plan is not None
        ):
            warning = note_block(connection, answer.ceiling.plan, hold.at)
            warn_everybody(connection, warning, hold.at)
        return answer

    def _settle_dead(self, connection: Connection) -> int:
        return settle_dead(
            connection,
            self._is_alive,
            self.prices.cost,
            self.clock.now_ms(),
            self._subscriptions,
        )

    def _book_unanswered(self, connection: Connection) -> int:
        return book_unanswered(
            connection,
            self._is_alive,
            self.prices.cost,
            self.clock.now_ms(),
            self._subscriptions,
        )

    def _given_back(self) -> None:
        self.returns += 1
        waiting, self._waiting = self._waiting, set()
        for event in waiting:
            event.set()

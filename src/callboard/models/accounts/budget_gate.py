"""The budgets' gate: reserves before a call, watches it while it streams, settles after it.

A call that does not fit waits while others hold what it needs, and is refused when nothing that
others do could help. A call that outgrows its reservation asks for more, or is cut off.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ErrorTier
from callboard.models.accounts.accounts import OUTPUT_TOKENS, Accounts
from callboard.models.accounts.amounts import Amounts, Dimension
from callboard.models.accounts.meter_gate import RESERVATION
from callboard.models.accounts.reservations import BudgetRefusal, Hold
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import (
    Chunk,
    Finished,
    ModelRequest,
    Restarted,
    TextChunk,
    Usage,
    Working,
)


class BudgetExceeded(CallboardError):
    """A call would cost more than a budget has left; `partial` is what a cut call had said."""

    code = "budget_exceeded"
    tier = ErrorTier.USER_FIXABLE

    def __init__(
        self, message: str, *, partial: str | None = None, fix: str | None = None, **context: Json
    ) -> None:
        """Take the figures as context: scope, dimension, limit, spent, reserved, wanted."""
        if partial:
            context["partial"] = partial
        super().__init__(message, fix=fix, **context)
        self.partial = partial


# A token is rarely shorter: only past this many bytes is it worth counting exactly.
_BYTES_PER_TOKEN: Final = 3
_MARK_SECONDS: Final = 0.001


class BudgetGate(WrapperGate):
    """Lets no call begin that its budgets cannot pay for."""

    def __init__(self, inner: Gate, accounts: Accounts) -> None:
        """Take the gate inside and the accounts that hold the budgets."""
        super().__init__(inner)
        self._accounts = accounts

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written."""
        hold: Hold | BudgetRefusal | None
        is_told = False
        while True:
            seen = self._accounts.returns
            hold = await self._accounts.try_reserve(request)
            if not isinstance(hold, BudgetRefusal):
                break
            if hold.is_final:
                raise exceeded(hold)
            if not is_told:
                is_told = True
                yield Working(f"waiting for room in the budget of {hold.ceiling.name}")
            await self._accounts.given_back(seen)
        inside = self._watched(request, hold) if hold else self.inner.stream(request)
        async with aclosing(inside) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _watched(self, request: ModelRequest, hold: Hold) -> AsyncGenerator[Chunk]:
        accounts = self._accounts
        watch = _Watch(accounts, request, hold)
        marked = replace(request, metadata={**request.metadata, RESERVATION: hold.id})
        deadline = self._deadline(request, hold)
        try:
            async with aclosing(self.inner.stream(marked)) as chunks:
                while (chunk := await _next(chunks, deadline, watch)) is not None:
                    refusal = await watch.take(chunk)
                    if refusal is not None:
                        watch.mark_cut()
                        raise exceeded(refusal, watch.text)
                    yield chunk
        finally:
            await accounts.settle(hold, watch.actual())

    def _deadline(self, request: ModelRequest, hold: Hold) -> float | None:
        """Return when the time of a call is up that got less of it than it might need."""
        if not 0 < hold.amounts.ms < self._accounts.wanted_ms(request):
            return None
        return asyncio.get_running_loop().time() + hold.amounts.ms / 1000


async def _next(
    chunks: AsyncGenerator[Chunk], deadline: float | None, watch: "_Watch"
) -> Chunk | None:
    if deadline is None:
        return await anext(chunks, None)
    # The gates inside must find the reason there when the time-out reaches them.
    mark = asyncio.get_running_loop().call_at(deadline - _MARK_SECONDS, watch.mark_cut)
    scope = asyncio.timeout_at(deadline)
    try:
        async with scope:
            return await anext(chunks, None)
    except TimeoutError:
        if not scope.expired():
            raise
        raise watch.out_of_time() from None
    finally:
        mark.cancel()


class _Watch:
    """A call under way, measured against what was reserved for it."""

    def __init__(self, accounts: Accounts, request: ModelRequest, hold: Hold) -> None:
        self._accounts = accounts
        self._request = request
        self._hold = hold
        self._started = accounts.clock.monotonic()
        self._parts: list[str] = []
        # Tokens of the text that has been counted, and how many parts that were.
        self._said_tokens = 0
        self._counted_parts = 0
        self._calls = 1
        # Output tokens of answers that were begun and given up.
        self._void_tokens = 0
        # Bytes of text that may arrive before it must be counted.
        self._output_tokens = request.max_tokens or OUTPUT_TOKENS
        self._unchecked = self._output_tokens * _BYTES_PER_TOKEN
        self._reported: Usage | None = None

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def mark_cut(self) -> None:
        """Say that the call's end is the budget's doing."""
        self._request.ending.reason = "cut"

    async def take(self, chunk: Chunk) -> BudgetRefusal | None:
        """Measure a chunk; return what forbids the call to go on, if anything does."""
        if isinstance(chunk, Finished):
            self._reported = chunk.reply.usage
        elif isinstance(chunk, Restarted):
            return await self._restart()
        elif isinstance(chunk, TextChunk):
            self._parts.append(chunk.text)
            self._unchecked -= len(chunk.text.encode())
            if self._unchecked < 0:
                return await self._grow()
        return None

    async def _restart(self) -> BudgetRefusal | None:
        """Reserve for the prompt and the answer once more: the first ones are paid for."""
        self._void_tokens += self._count()
        self._parts.clear()
        self._said_tokens = self._counted_parts = 0
        self._calls += 1
        self._output_tokens = self._request.max_tokens or OUTPUT_TOKENS
        self._unchecked = self._output_tokens * _BYTES_PER_TOKEN
        return await self._extend(
            Usage(self._hold.spender.estimated_tokens, self._output_tokens), 1
        )

    async def _grow(self) -> BudgetRefusal | None:
        """Count exactly, and reserve for more if the answer is longer than reserved for."""
        said = self._count()
        if said <= self._output_tokens:
            self._unchecked = (self._output_tokens - said + 1) * _BYTES_PER_TOKEN
            return None
        more = said - self._output_tokens + OUTPUT_TOKENS
        self._output_tokens += more
        self._unchecked = OUTPUT_TOKENS * _BYTES_PER_TOKEN
        return await self._extend(Usage(0, more), 0)

    def _count(self) -> int:
        """Return the tokens said so far; no text is counted twice, so a long reply stays cheap."""
        new = "".join(self._parts[self._counted_parts :])
        self._counted_parts = len(self._parts)
        # Counted in pieces, a text has at most a token more at each seam.
        self._said_tokens += self._accounts.count_tokens(new) if new else 0
        return self._said_tokens

    async def _extend(self, usage: Usage, calls: int) -> BudgetRefusal | None:
        cost = self._accounts.cost(self._request, usage) or 0
        more = Amounts(cost, usage.input_tokens + usage.output_tokens, calls)
        return await self._accounts.extend(self._hold, more)

    def actual(self) -> Amounts:
        """Return what the call took, as told or as counted; for calls that nobody meters."""
        usage = self._reported
        if usage is None or usage == Usage():
            said = self._void_tokens + self._count()
            given = self._hold.spender.estimated_tokens if said or self._reported else 0
            usage = Usage(given * self._calls, said)
        return Amounts(
            microusd=self._accounts.cost(self._request, usage) or 0,
            tokens=usage.input_tokens + usage.output_tokens,
            calls=self._calls,
            ms=round((self._accounts.clock.monotonic() - self._started) * 1000),
        )

    def out_of_time(self) -> BudgetExceeded:
        """Return the error of a call whose time is up, with what it had said."""
        granted = self._hold.amounts.ms
        return BudgetExceeded(
            f"The time left in the budgets, {Dimension.TIME.told(granted)}, was used up by a call"
            f" of {self._request.model!r}",
            partial=self.text,
            fix="Raise the time with `callboard budget set SCOPE --minutes …`, then go on.",
            dimension=Dimension.TIME.noun,
            reserved=granted,
            model=self._request.model,
        )


def exceeded(refusal: BudgetRefusal, partial: str | None = None) -> BudgetExceeded:
    """Return the error of a call that does not fit, with the figures and the way out."""
    dimension, ceiling = refusal.dimension, refusal.ceiling
    message = (
        f"The budget of {ceiling.name} allows {dimension.told(refusal.limit)};"
        f" spent: {dimension.told(refusal.spent)}, reserved: {dimension.told(refusal.reserved)},"
        f" needed for this call: {dimension.told(refusal.wanted)}"
    )
    options = {"microusd": "--usd", "tokens": "--tokens", "calls": "--calls", "ms": "--minutes"}
    fix = f"Raise it: `callboard budget set {ceiling.name} {options[dimension.value]} …`."
    if ceiling.ends is not None:
        fix = f"Wait until {ceiling.ends}, raise the limit in the settings, or change the model."
    if ceiling.provider:
        fix = (
            f"Let the other sessions finish, wait until {ceiling.ends}, or give this one a budget"
            f" of its own: `callboard budget set {ceiling.scope} {options[dimension.value]} …`."
        )
    return BudgetExceeded(
        message,
        partial=partial,
        fix=fix,
        scope=ceiling.name,
        can_raise=ceiling.ends is None,
        dimension=dimension.noun,
        limit=refusal.limit,
        spent=refusal.spent,
        reserved=refusal.reserved,
        wanted=refusal.wanted,
        ends_at=ceiling.ends_at,
    )

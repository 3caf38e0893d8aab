"""The ledger's gate: every call of a provider leaves one row, however it ends.

The row is handed to the store when the call ends, before the last chunk is handed on, and nobody
waits for the disk: whatever a reader stores of the reply becomes durable with it or after it.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.core.errors import CallboardError, InvalidInput, ProviderError
from callboard.models.accounts.accounts import Accounts
from callboard.models.accounts.calls import CallOutcome, CallRecord
from callboard.models.errors import MissingKey, ProviderTimeout, WeightsUnusable
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import (
    Chunk,
    Ending,
    Finished,
    ModelRequest,
    Restarted,
    TextChunk,
    Usage,
)

RESERVATION: Final = "reservation_id"
"""The key of a request's metadata that names what was held back for it."""

# Raised before anything is sent: such a call costs nothing and was no request.
_NEVER_SENT: Final = (InvalidInput, MissingKey, WeightsUnusable)


class MeterGate(WrapperGate):
    """Puts every call on record with who made it, what it cost and how it ended."""

    def __init__(self, inner: Gate, accounts: Accounts) -> None:
        """Take the gate that calls providers, and the accounts to book on."""
        super().__init__(inner)
        self._accounts = accounts

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written."""
        accounts = self._accounts
        await accounts.prices.prepare(request.model)
        meter = _Meter(request, accounts.clock.now_ms(), accounts.clock.monotonic())
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    meter.take(chunk, accounts.clock.monotonic())
                    if isinstance(chunk, Finished):
                        self._book(meter, None)
                    yield chunk
        except BaseException as error:
            self._book(meter, error)
            raise
        self._book(meter, ProviderError("The stream ended without a reply."))

    async def close(self) -> None:
        """Have every call on record, then close the gate inside."""
        try:
            await self._accounts.flush()
        finally:
            await self.inner.close()

    def _book(self, meter: "_Meter", error: BaseException | None) -> None:
        if meter.is_booked:
            return
        meter.is_booked = True
        accounts, request = self._accounts, meter.request
        hold_id = cast("str | None", request.metadata.get(RESERVATION))
        spender = accounts.spender(request)
        usage, is_estimated = meter.usage(error, spender.estimated_tokens, accounts.count_tokens)
        call = CallRecord(
            id=accounts.new_call_id(),
            at=meter.at,
            spender=spender,
            outcome=_outcome(error, request.ending),
            usage=usage,
            microusd=accounts.cost(request, usage),
            requests=0 if isinstance(error, _NEVER_SENT) else meter.requests,
            is_estimated=is_estimated,
            latency_ms=round((accounts.clock.monotonic() - meter.started) * 1000),
            first_token_ms=meter.first_token_ms,
            error_code=_code(error),
            switched_from=cast("str | None", request.metadata.get("switched_from")),
        )
        accounts.book(call, hold_id)


@dataclass(slots=True)
class _Meter:
    """What is known of a call while it is made."""

    request: ModelRequest
    at: int
    started: float
    requests: int = 1
    parts: list[str] = field(default_factory=list[str])
    first_token_ms: int | None = None
    reported: Usage | None = None
    is_booked: bool = False

    def take(self, chunk: Chunk, now: float) -> None:
        if isinstance(chunk, TextChunk):
            if self.first_token_ms is None:
                self.first_token_ms = round((now - self.started) * 1000)
            self.parts.append(chunk.text)
        elif isinstance(chunk, Restarted):
            self.requests += 1
        elif isinstance(chunk, Finished):
            self.reported = chunk.reply.usage

    def usage(
        self, error: BaseException | None, estimated_tokens: int, count: Any
    ) -> tuple[Usage, bool]:
        """Return the tokens as the provider told them, else as counted here, and say which."""
        if self.reported is not None and self.reported != Usage():
            return self.reported, False
        told = _told_usage(error)
        if told is not None:
            return told, False
        if not self.parts and not _may_have_cost(error):
            return Usage(), False
        # What a provider has read it bills, also when nobody waits for the rest of the answer.
        return Usage(self.requests * estimated_tokens, count("".join(self.parts))), True


def _told_usage(error: BaseException | None) -> Usage | None:
    told = error.context.get("usage") if isinstance(error, CallboardError) else None
    return Usage(**cast("dict[str, int]", told)) if isinstance(told, dict) else None


def _may_have_cost(error: BaseException | None) -> bool:
    """Say whether a call without a word of reply may be on the bill: a refused one is not."""
    return not isinstance(error, Exception) or isinstance(error, ProviderTimeout)


def _outcome(error: BaseException | None, ending: Ending) -> CallOutcome:
    if error is None:
        return CallOutcome.OK
    if isinstance(error, Exception):
        return CallOutcome.ERROR
    return CallOutcome(ending.reason) if ending.reason else CallOutcome.ABORTED


def _code(error: BaseException | None) -> str | None:
    if isinstance(error, CallboardError):
        return error.code
    return type(error).__name__ if isinstance(error, Exception) else None

"""RetryGate: calls again what failed in passing. Waiting out a rate limit is the queue's business.

Only failures of a provider are retried: an error of anything else, such as the ledger after the
provider has answered, must not make a call happen twice. What all attempts of one request share
stands here too: its total time, and the text its caller already has.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from callboard.core.classify import Classifier
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import (
    ErrorTier,
    ProviderError,
    TransientTracker,
)
from callboard.core.events import CallRetried
from callboard.core.settings.errors import RetryPolicy, retry_policies
from callboard.models.catalog import provider_of
from callboard.models.errors import CircuitOpen
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import (
    Chunk,
    Finished,
    ModelRequest,
    Notify,
    Restarted,
    TextChunk,
    Working,
    say_nothing,
)


class Deadline:
    """Runs from the moment it is made; a request that names no time has none."""

    def __init__(self, request: ModelRequest, clock: Clock) -> None:
        """Start the time of a request."""
        self._clock = clock
        total = request.timeout_seconds
        self._until = None if total is None else clock.monotonic() + total

    def leaves(self, seconds: float) -> bool:
        """Say whether there is time for something after waiting so long."""
        return self._until is None or self._clock.monotonic() + seconds < self._until

    def bound(self, request: ModelRequest) -> ModelRequest:
        """Return a request that ends in time."""
        if self._until is None:
            return request
        # Never quite nothing: that would stand for no limit at all.
        left = max(0.001, self._until - self._clock.monotonic())
        return replace(request, timeout_seconds=left)


class Delivered:
    """Follows the chunks of one call over all its attempts."""

    def __init__(self) -> None:
        """Start before the first chunk."""
        self._parts: list[str] = []
        self._longest = ""

    @property
    def text(self) -> str:
        """What stands in the caller's hands now."""
        return "".join(self._parts)

    def take(self, chunk: Chunk) -> None:
        """Follow one chunk."""
        if isinstance(chunk, TextChunk):
            self._parts.append(chunk.text)
        elif isinstance(chunk, Restarted):
            self.void()

    def void(self) -> str:
        """Start again, and return what was delivered until now."""
        text = self.text
        self._parts.clear()
        self._longest = max(self._longest, text, key=len)
        return text

    def save_in(self, error: ProviderError) -> None:
        """Give an error the longest text any attempt had produced, unless it has its own."""
        kept = max(self._longest, self.text, key=len)
        if kept and not error.partial:
            error.partial = kept
            error.context["partial"] = kept


Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class _Tries:
    """What one request has been through."""

    request: ModelRequest
    deadline: Deadline
    delivered: Delivered = field(default_factory=Delivered)
    failures: Counter[ErrorTier] = field(default_factory=Counter[ErrorTier])
    last: ProviderError | None = None


@dataclass(frozen=True, slots=True)
class _Retry:
    """The decision to call again after an error."""

    error: ProviderError
    tier: ErrorTier
    attempt: int
    delay_seconds: float


class RetryGate(WrapperGate):
    """Retries passing faults and providers in trouble, each tier by its own policy."""

    def __init__(
        self,
        inner: Gate,
        policies: Mapping[ErrorTier, RetryPolicy] = retry_policies,
        *,
        tracker: TransientTracker | None = None,
        classifier: Classifier | None = None,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        uniform: Callable[[], float] = random.random,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the policies by tier; `uniform` draws from 0 to 1 and spreads the waits."""
        super().__init__(inner)
        self._policies = policies
        self._tracker = tracker or TransientTracker()
        self._classifier = classifier or Classifier()
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._uniform = uniform
        self._notify = notify

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply; text of a failed attempt is voided before the next one begins."""
        tries = _Tries(request, Deadline(request, self._clock))
        while True:
            asked = tries.deadline.bound(request) if tries.failures else request
            try:
                async with aclosing(self.inner.stream(asked)) as chunks:
                    async for chunk in chunks:
                        tries.delivered.take(chunk)
                        yield _counted(chunk, tries.failures.total())
                return
            except ProviderError as error:
                retry = self._decide(error, tries)
            if tries.delivered.void():
                yield Restarted(f"{retry.error.message} It is asked again.")
            yield Working(f"asking again in {retry.delay_seconds:.1f} s")
            await self._sleep(retry.delay_seconds)

    def _decide(self, error: ProviderError, tries: _Tries) -> _Retry:
        """Return how to go on and tell it, or raise the error with what the attempts have left."""
        tier = self._classifier.tier_of(error)
        tries.failures[tier] += 1
        attempt, policy = tries.failures[tier], self._policies[tier]
        delay = policy.delay_seconds(attempt) * self._uniform()
        is_frequent = tier is ErrorTier.TRANSIENT and self._is_frequent(tries.request)
        is_worth_it = _is_retried(error, tier) and attempt < policy.max_attempts
        if not is_worth_it or not tries.deadline.leaves(delay):
            error.context["attempts"] = tries.failures.total()
            tries.delivered.save_in(error)
            if isinstance(error, CircuitOpen) and tries.last is not None:
                raise error from tries.last
            raise error
        tries.last = error
        retry = _Retry(error, tier, attempt, delay)
        self._tell(retry, tries, is_quiet=tier is ErrorTier.TRANSIENT and not is_frequent)
        return retry

    def _is_frequent(self, request: ModelRequest) -> bool:
        return self._tracker.record(provider_of(request.model), self._clock.monotonic())

    def _tell(self, retry: _Retry, tries: _Tries, *, is_quiet: bool) -> None:
        """Tell of a retry, with the text the failed attempt had produced."""
        told = CallRetried(
            model=tries.request.model,
            attempt=retry.attempt,
            max_attempts=self._policies[retry.tier].max_attempts,
            delay_ms=round(retry.delay_seconds * 1000),
            tier=retry.tier.name.lower(),
            code=retry.error.code,
            message=retry.error.message,
            is_quiet=is_quiet,
            partial=tries.delivered.text or retry.error.partial or "",
        )
        self._notify(told, tries.request)


def _is_retried(error: ProviderError, tier: ErrorTier) -> bool:
    # An open circuit says that the provider is to be left alone.
    is_passing = tier in (ErrorTier.TRANSIENT, ErrorTier.EXTERNAL_DEGRADING)
    return is_passing and not isinstance(error, CircuitOpen)


def _counted(chunk: Chunk, failures: int) -> Chunk:
    if failures and isinstance(chunk, Finished):
        return Finished(replace(chunk.reply, attempts=chunk.reply.attempts + failures))
    return chunk

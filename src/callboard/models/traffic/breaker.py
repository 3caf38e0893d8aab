"""BreakerGate: leaves a provider alone while it keeps failing. Counts; never waits or retries."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from callboard.core.breaker import Outcome, Permit, Refusal
from callboard.core.classify import Classifier
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import ProviderError
from callboard.core.tiers import ErrorTier
from callboard.models.errors import CircuitOpen
from callboard.models.gate import Gate, WrapperGate
from callboard.models.model_id import provider_of
from callboard.models.traffic.circuits.breakers import Breakers
from callboard.models.types import Chunk, Finished, ModelRequest


def resource_of(model: str) -> str:
    """Return the resource a model belongs to: its provider."""
    return f"llm:{provider_of(model)}"


class BreakerGate(WrapperGate):
    """Asks the circuit of the provider before each call and tells it how the call went."""

    def __init__(
        self,
        inner: Gate,
        breakers: Breakers,
        *,
        classifier: Classifier | None = None,
        clock: Clock | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Take who knows the circuits; providers in `without` have none."""
        super().__init__(inner)
        self._without = without
        self._breakers = breakers
        self._classifier = classifier or Classifier()
        self._clock = clock or SystemClock()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply; while the circuit is open, fail at once."""
        is_free = provider_of(request.model) in self._without
        return self.inner.stream(request) if is_free else self._guarded(request)

    async def _guarded(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        resource = resource_of(request.model)
        permit = await self._breakers.admit(resource)
        if isinstance(permit, Refusal):
            raise self._refused(request.model, resource, permit)
        pending: Permit | None = permit
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        # Before it is handed on: whoever got the reply hears no more.
                        pending = None
                        await self._breakers.report(resource, permit, Outcome.SUCCEEDED)
                    yield chunk
        except ProviderError as error:
            if pending is not None and self._counts(error):
                pending = None
                await self._breakers.report(resource, permit, Outcome.FAILED)
            raise
        finally:
            if pending is not None:
                self._breakers.withdraw(resource, permit)

    def _counts(self, error: ProviderError) -> bool:
        """Say whether an error is the provider's; a 429 or a bad request proves it is alive."""
        tier = self._classifier.tier_of(error)
        return tier in (ErrorTier.TRANSIENT, ErrorTier.EXTERNAL_DEGRADING)

    def _refused(self, model: str, resource: str, refusal: Refusal) -> CircuitOpen:
        provider = provider_of(model)
        seconds = max(0.0, (refusal.retry_at_ms - self._clock.now_ms()) / 1000)
        at = datetime.fromtimestamp(refusal.retry_at_ms / 1000, UTC).strftime("%H:%M:%S")
        when = f"it is tried again in {seconds:.0f} s, at {at} UTC"
        if refusal.is_probing:
            when = "another call is trying it out right now"
        return CircuitOpen(
            f"The provider {provider!r} has failed too often and is left alone; {when}.",
            fix=f"Wait, choose another model, or run `callboard models reset {provider}`.",
            resource=resource,
            model=model,
            retry_at_ms=refusal.retry_at_ms,
        )

"""BreakerGate and the breakers behind it: a provider that keeps failing is left alone.

Counts; never waits or retries. What all breakers share, and the ones in memory.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Protocol

from callboard.core.breaker import (
    Breaker,
    BreakerOutcome,
    CircuitRefusal,
    CircuitState,
    Permit,
    admit,
    report,
    reset,
    rules_for,
)
from callboard.core.classify import Classifier
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import CircuitChanged
from callboard.core.settings.circuit import BreakerRules, breaker_rules
from callboard.models.catalog import provider_of
from callboard.models.errors import CircuitOpen
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import Chunk, Finished, ModelRequest, Notify, say_nothing


class Breakers(Protocol):
    """Gives leave to call a resource and hears what became of the call."""

    async def admit(self, resource: str) -> Permit | CircuitRefusal:
        """Ask for leave to make one call."""
        ...

    async def report(self, resource: str, permit: Permit, outcome: BreakerOutcome) -> None:
        """Say what a permitted call tells about the resource."""
        ...

    def withdraw(self, resource: str, permit: Permit) -> None:
        """Give back a permit of a call that was given up; never waits."""
        ...


class LocalBreakers:
    """Circuits that only this process knows; for files, programs, and gates without a project."""

    def __init__(
        self,
        rules: Mapping[str, BreakerRules] = breaker_rules,
        *,
        clock: Clock | None = None,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the rules by class of resource."""
        self._rules = rules
        self._clock = clock or SystemClock()
        self._notify = notify
        self._breakers: dict[str, Breaker] = {}

    async def admit(self, resource: str) -> Permit | CircuitRefusal:
        """Ask for leave to make one call."""
        rules = rules_for(resource, self._rules)
        after, answer = admit(self.breaker(resource), rules, self._clock.now_ms())
        self._keep(resource, after, rules)
        return answer

    async def report(self, resource: str, permit: Permit, outcome: BreakerOutcome) -> None:
        """Say what a permitted call tells about the resource."""
        self._take_in(resource, permit, outcome)

    def withdraw(self, resource: str, permit: Permit) -> None:
        """Give back a permit of a call that was given up."""
        self._take_in(resource, permit, BreakerOutcome.ABANDONED)

    async def reset(self, resource: str) -> Breaker:
        """Close a circuit by hand and return what it was."""
        before = self.breaker(resource)
        after = reset(before, self._clock.now_ms())
        self._keep(resource, after, rules_for(resource, self._rules), by_hand=True)
        return before

    def breaker(self, resource: str) -> Breaker:
        """Return the circuit of a resource; one nobody has used is closed."""
        return self._breakers.get(resource, Breaker())

    def _take_in(self, resource: str, permit: Permit, outcome: BreakerOutcome) -> None:
        rules = rules_for(resource, self._rules)
        after = report(self.breaker(resource), permit, outcome, rules, self._clock.now_ms())
        self._keep(resource, after, rules)

    def _keep(
        self, resource: str, after: Breaker, rules: BreakerRules, *, by_hand: bool = False
    ) -> None:
        before = self.breaker(resource)
        self._breakers[resource] = after
        if change := change_of(resource, before, after, rules, by_hand=by_hand):
            self._notify(change, None)


def change_of(
    resource: str, before: Breaker, after: Breaker, rules: BreakerRules, *, by_hand: bool = False
) -> CircuitChanged | None:
    """Return what is told of a change of state, if there was one."""
    if before.state is after.state:
        return None
    reason = "reset by hand" if by_hand else _reason(before, after, rules)
    until = after.cooldown_until_ms or 0
    return CircuitChanged(resource, after.state.value, before.state.value, reason, until)


def _reason(before: Breaker, after: Breaker, rules: BreakerRules) -> str:
    if after.state is CircuitState.HALF_OPEN:
        return "its rest is over: one call tries it out"
    if after.state is CircuitState.CLOSED:
        return f"{rules.success_threshold} calls in a row went well"
    if before.state is CircuitState.HALF_OPEN:
        return "the call that tried it out failed"
    if after.failures >= rules.consecutive_failures:
        return f"{after.failures} failures in a row"
    return f"{sum(after.window)} of the last {len(after.window)} calls failed"


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
        if isinstance(permit, CircuitRefusal):
            raise self._refused(request.model, resource, permit)
        pending: Permit | None = permit
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        # Before it is handed on: whoever got the reply hears no more.
                        pending = None
                        await self._breakers.report(resource, permit, BreakerOutcome.SUCCEEDED)
                    yield chunk
        except ProviderError as error:
            if pending is not None and self._counts(error):
                pending = None
                await self._breakers.report(resource, permit, BreakerOutcome.FAILED)
            raise
        finally:
            if pending is not None:
                self._breakers.withdraw(resource, permit)

    def _counts(self, error: ProviderError) -> bool:
        """Say whether an error is the provider's; a 429 or a bad request proves it is alive."""
        tier = self._classifier.tier_of(error)
        return tier in (ErrorTier.TRANSIENT, ErrorTier.EXTERNAL_DEGRADING)

    def _refused(self, model: str, resource: str, refusal: CircuitRefusal) -> CircuitOpen:
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

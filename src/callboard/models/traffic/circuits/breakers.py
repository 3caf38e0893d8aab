"""Breakers: who knows the circuit of every resource. Here what all share, and the in-memory one."""

from collections.abc import Mapping
from typing import Protocol

from callboard.core.breaker import (
    Breaker,
    BreakerRules,
    CircuitState,
    Outcome,
    Permit,
    Refusal,
    admit,
    breaker_rules,
    report,
    reset,
    rules_for,
)
from callboard.core.clock import Clock, SystemClock
from callboard.core.events import CircuitChanged
from callboard.models.notice import Notify, say_nothing


class Breakers(Protocol):
    """Gives leave to call a resource and hears what became of the call."""

    async def admit(self, resource: str) -> Permit | Refusal:
        """Ask for leave to make one call."""
        ...

    async def report(self, resource: str, permit: Permit, outcome: Outcome) -> None:
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

    async def admit(self, resource: str) -> Permit | Refusal:
        """Ask for leave to make one call."""
        rules = rules_for(resource, self._rules)
        after, answer = admit(self.breaker(resource), rules, self._clock.now_ms())
        self._keep(resource, after, rules)
        return answer

    async def report(self, resource: str, permit: Permit, outcome: Outcome) -> None:
        """Say what a permitted call tells about the resource."""
        self._take_in(resource, permit, outcome)

    def withdraw(self, resource: str, permit: Permit) -> None:
        """Give back a permit of a call that was given up."""
        self._take_in(resource, permit, Outcome.ABANDONED)

    async def reset(self, resource: str) -> Breaker:
        """Close a circuit by hand and return what it was."""
        before = self.breaker(resource)
        after = reset(before, self._clock.now_ms())
        self._keep(resource, after, rules_for(resource, self._rules), by_hand=True)
        return before

    def breaker(self, resource: str) -> Breaker:
        """Return the circuit of a resource; one nobody has used is closed."""
        return self._breakers.get(resource, Breaker())

    def _take_in(self, resource: str, permit: Permit, outcome: Outcome) -> None:
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

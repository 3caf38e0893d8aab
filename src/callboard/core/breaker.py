"""The circuit breaker as a pure machine: state in, state out. Owns no clock, no lock, no storage.

A permit is good for the era it was given in. What a call reports after the circuit has changed is
ignored: a straggler from before the trip neither closes nor opens anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from callboard.core.settings.circuit import GENERIC_RULES, BreakerRules, breaker_rules


class CircuitState(StrEnum):
    """Whether calls pass: all, none, or a few to see whether the resource is back."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class BreakerOutcome(StrEnum):
    """What a permitted call says about the resource; an abandoned one says nothing."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ABANDONED = "abandoned"


def rules_for(resource: str, rules: Mapping[str, BreakerRules] = breaker_rules) -> BreakerRules:
    """Return the rules of a resource by its class, the part of its id before the colon."""
    return rules.get(resource.partition(":")[0], GENERIC_RULES)


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave to make one call; its outcome is reported with it."""

    serial: int
    is_probe: bool = False


@dataclass(frozen=True, slots=True)
class CircuitRefusal:
    """No leave before a moment; while probes are under way it may come earlier."""

    retry_at_ms: int
    is_probing: bool = False


@dataclass(frozen=True, slots=True)
class BreakerProbe:
    """A call that tries out whether the resource is back."""

    serial: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of one circuit.

    `failures` counts failures in a row, `successes` probes that went well, `window` holds the
    latest results (True for a failure). `serial` grows with every change of state and every probe,
    so that it tells one era from another.
    """

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    successes: int = 0
    window: tuple[bool, ...] = ()
    probes: tuple[BreakerProbe, ...] = ()
    serial: int = 0
    changed_at_ms: int = 0
    failed_at_ms: int | None = None
    cooldown_until_ms: int | None = None


def admit(
    breaker: Breaker, rules: BreakerRules, now_ms: int
) -> tuple[Breaker, Permit | CircuitRefusal]:
    """Ask for leave to call; after the cooldown the asker becomes a probe."""
    if breaker.state is CircuitState.CLOSED:
        return breaker, Permit(breaker.serial)
    breaker = _without_lost_probes(breaker, rules, now_ms)
    if breaker.state is CircuitState.OPEN:
        until = breaker.cooldown_until_ms or 0
        if _is_ahead(until, now_ms, rules.cooldown_ms):
            return breaker, CircuitRefusal(until)
        breaker = _entered(breaker, CircuitState.HALF_OPEN, now_ms)
    if len(breaker.probes) >= rules.max_probes:
        return breaker, CircuitRefusal(breaker.probes[0].until_ms, is_probing=True)
    serial = breaker.serial + 1
    probe = BreakerProbe(serial, now_ms + rules.probe_timeout_ms)
    breaker = replace(breaker, probes=(*breaker.probes, probe), serial=serial)
    return breaker, Permit(serial, is_probe=True)


def report(
    breaker: Breaker, permit: Permit, outcome: BreakerOutcome, rules: BreakerRules, now_ms: int
) -> Breaker:
    """Take in what became of a permitted call."""
    if not _knows(breaker, permit):
        return breaker
    if outcome is BreakerOutcome.ABANDONED:
        return _without(breaker, permit)
    if outcome is BreakerOutcome.FAILED:
        return _failed(breaker, permit, rules, now_ms)
    return _succeeded(breaker, permit, rules, now_ms)


def reset(breaker: Breaker, now_ms: int) -> Breaker:
    """Close the circuit by hand and forget everything it has seen."""
    return Breaker(serial=breaker.serial + 1, changed_at_ms=now_ms)


def _knows(breaker: Breaker, permit: Permit) -> bool:
    if permit.is_probe:
        return any(probe.serial == permit.serial for probe in breaker.probes)
    return breaker.state is CircuitState.CLOSED and breaker.serial == permit.serial


def _without(breaker: Breaker, permit: Permit) -> Breaker:
    left = tuple(probe for probe in breaker.probes if probe.serial != permit.serial)
    return breaker if left == breaker.probes else replace(breaker, probes=left)


def _succeeded(breaker: Breaker, permit: Permit, rules: BreakerRules, now_ms: int) -> Breaker:
    if not permit.is_probe:
        return replace(breaker, failures=0, window=_pushed(breaker, rules, is_failure=False))
    breaker = replace(_without(breaker, permit), successes=breaker.successes + 1)
    if breaker.successes < rules.success_threshold:
        return breaker
    return _entered(breaker, CircuitState.CLOSED, now_ms)


def _failed(breaker: Breaker, permit: Permit, rules: BreakerRules, now_ms: int) -> Breaker:
    if permit.is_probe:
        return _opened(_struck(breaker, now_ms), rules, now_ms)
    window = _pushed(breaker, rules, is_failure=True)
    breaker = replace(_struck(breaker, now_ms), window=window)
    is_row = breaker.failures >= rules.consecutive_failures
    is_share = len(window) >= rules.window_size and sum(window) / len(window) >= rules.failure_rate
    return _opened(breaker, rules, now_ms) if is_row or is_share else breaker


def _struck(breaker: Breaker, now_ms: int) -> Breaker:
    return replace(breaker, failures=breaker.failures + 1, failed_at_ms=now_ms)


def _pushed(breaker: Breaker, rules: BreakerRules, *, is_failure: bool) -> tuple[bool, ...]:
    return (*breaker.window, is_failure)[-rules.window_size :]


def _without_lost_probes(breaker: Breaker, rules: BreakerRules, now_ms: int) -> Breaker:
    """Count a probe whose time is up, perhaps with its process, as failed at that moment."""
    for probe in breaker.probes:
        if not _is_ahead(probe.until_ms, now_ms, rules.probe_timeout_ms):
            lost_at = min(probe.until_ms, now_ms)
            return _opened(_struck(breaker, lost_at), rules, lost_at)
    return breaker


def _opened(breaker: Breaker, rules: BreakerRules, now_ms: int) -> Breaker:
    breaker = _entered(breaker, CircuitState.OPEN, now_ms)
    return replace(breaker, cooldown_until_ms=now_ms + rules.cooldown_ms)


def _entered(breaker: Breaker, state: CircuitState, now_ms: int) -> Breaker:
    """Change state; closing forgets the past, or it would open the circuit again at once."""
    is_closed = state is CircuitState.CLOSED
    return replace(
        breaker,
        state=state,
        failures=0 if is_closed else breaker.failures,
        successes=0,
        window=() if is_closed else breaker.window,
        probes=(),
        serial=breaker.serial + 1,
        changed_at_ms=now_ms,
        cooldown_until_ms=None,
    )


def _is_ahead(moment_ms: int, now_ms: int, span_ms: int) -> bool:
    """Say whether a moment is still to come; one far beyond its span is a clock set back."""
    return now_ms < moment_ms <= now_ms + 2 * span_ms

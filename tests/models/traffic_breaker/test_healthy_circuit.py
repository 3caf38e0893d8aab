"""A circuit that has seen nothing but successes: asking and reporting cost no write."""

import pytest
from breaker_props import HandClock, Notices

from callboard.core.breaker import BreakerOutcome, CircuitState, Permit
from callboard.core.settings.circuit import BreakerRules
from callboard.models.traffic.shared_breakers import SharedBreakers
from callboard.store.database import Database

pytestmark = pytest.mark.anyio

LLM = "llm:acme"
RULES = {
    "llm": BreakerRules(
        consecutive_failures=3,
        failure_rate=0.5,
        window_size=6,
        cooldown_seconds=30.0,
        success_threshold=2,
        probe_timeout_seconds=60.0,
    )
}


@pytest.fixture
async def healthy(database: Database, clock: HandClock, notices: Notices) -> SharedBreakers:
    """A circuit whose latest results were all good."""
    breakers = SharedBreakers(database, RULES, clock=clock, notify=notices)
    for _ in range(6):
        await report(breakers, BreakerOutcome.SUCCEEDED)
        # What was reported is stored before this, and heard of.
        await database.write(lambda connection: connection.execute("SELECT 1").fetchone())
    return breakers


async def report(breakers: SharedBreakers, outcome: BreakerOutcome) -> None:
    permit = await breakers.admit(LLM)
    assert isinstance(permit, Permit)
    await breakers.report(LLM, permit, outcome)


async def test_more_of_the_same_does_without_the_store(
    healthy: SharedBreakers, database: Database
) -> None:
    database.close()
    for _ in range(50):
        await report(healthy, BreakerOutcome.SUCCEEDED)


async def test_failures_count_as_before(healthy: SharedBreakers) -> None:
    for _ in range(50):
        await report(healthy, BreakerOutcome.SUCCEEDED)
    for _ in range(3):
        await report(healthy, BreakerOutcome.FAILED)
    assert healthy.breaker(LLM).state is CircuitState.OPEN

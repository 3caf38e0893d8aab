"""Two hundred sessions at once against a provider that refuses and fails now and then."""

import asyncio
import random
from collections import Counter

import pytest
from foyer import Notices, request

from callboard.core.errors import ProviderError
from callboard.core.events import CallRequeued, LimitPaused, LimitResumed
from callboard.core.settings.errors import RateLimitPolicy
from callboard.core.settings.sections import QueueSettings
from callboard.models import DirectGate, Failure, Line, ModelRequest, Script
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.queue import QueueGate

pytestmark = pytest.mark.anyio

SESSIONS, CALLS = 200, 10


class Moody:
    """Answers most calls, refuses one in forty, fails one in a hundred, and keeps count."""

    def __init__(self) -> None:
        self.chance = random.Random(7)
        self.answered: Counter[str] = Counter()
        self.refused = 0
        self.failed = 0
        self.script = Script(self.answer)

    def answer(self, asked: ModelRequest) -> Line:
        throw = self.chance.random()
        if throw < 0.025:
            self.refused += 1
            return Line(fail=Failure(429))
        if throw < 0.035:
            self.failed += 1
            return Line(fail=Failure(500))
        self.answered[asked.prompt_text] += 1
        return Line(f"reply to {asked.prompt_text} " * 3)


@pytest.mark.req("LLM-111", "ERR-124", "ERR-126")
async def test_two_hundred_sessions_lose_no_call_and_repeat_none() -> None:
    moody, notices = Moody(), Notices()
    policy = RateLimitPolicy.make(10, 0.001, 0.004)
    limiter = Limiter(policy=policy, notify=notices)
    gate = QueueGate(
        DirectGate({"script": moody.script}),
        QueueSettings(global_limit=40, provider_limit=30, session_limit=4),
        limiter=limiter,
        notify=notices,
    )
    outcomes: Counter[str] = Counter()

    async def call(name: str, session: str, priority: int) -> None:
        try:
            reply = await gate.complete(request(name, session_id=session, priority=priority))
        except ProviderError as error:
            outcomes[f"HTTP {error.status}"] += 1
            return
        assert reply.text == f"reply to {name} " * 3
        outcomes["answered"] += 1

    async def session(number: int) -> None:
        name = f"s{number}"
        async with asyncio.TaskGroup() as group:
            for each in range(CALLS):
                priority = (100, 80, 60, 40, 20)[(number + each) % 5]
                group.create_task(call(f"{name}/{each}", name, priority))

    async with asyncio.timeout(60):
        await asyncio.gather(*(session(number) for number in range(SESSIONS)))
    assert outcomes.total() == SESSIONS * CALLS
    assert outcomes["HTTP 500"] == moody.failed
    assert outcomes["answered"] == SESSIONS * CALLS - moody.failed
    assert moody.refused > 10
    # Whoever was asked twice had made room for a user before it could finish.
    displaced = Counter(
        asked.prompt_text
        for body, asked in notices.told
        if isinstance(body, CallRequeued) and body.reason == "preempted" and asked is not None
    )
    assert all(times - 1 <= displaced[name] for name, times in moody.answered.items())
    assert len(notices.of(LimitPaused)) == len(notices.of(LimitResumed)) > 0
    snapshot = gate.snapshot()
    assert (snapshot.waiting, snapshot.in_flight, snapshot.paused) == ((), (), ())
    limiter.close()

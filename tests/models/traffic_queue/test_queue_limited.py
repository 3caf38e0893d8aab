"""The queue and the limiter together: what a refused call does, and what the others do."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from foyer import HandTime, Notices, Prompter, Readers, direct, quiet, request, until

from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import CallRequeued, LimitPaused, LimitResumed
from callboard.core.settings.errors import RateLimitPolicy
from callboard.core.settings.sections import QueueSettings
from callboard.models import DirectGate, Failure, Line, Restarted, Script, WrapperGate
from callboard.models.errors import CredentialPaused, QueueClosed, RateLimited
from callboard.models.traffic.limit_state import Credential, keyless
from callboard.models.traffic.limiter import Limiter
from callboard.models.traffic.limiter_gate import LimiterGate
from callboard.models.traffic.queue import QueueGate
from callboard.models.types import Chunk, ModelRequest

pytestmark = pytest.mark.anyio


class House:
    """A queue, its limiter and two providers behind it."""

    def __init__(self, first: str = "", **limits: int) -> None:
        self.time, self.notices = HandTime(), Notices()
        self.provider = Prompter(first)
        self.limiter = Limiter(
            clock=self.time, timer=self.time.after, notify=self.notices, jitter=lambda: 0.0
        )
        self.gate = QueueGate(
            direct(self.provider, "script", "other"),
            QueueSettings(**limits),  # type: ignore[arg-type]
            limiter=self.limiter,
            notify=self.notices,
        )
        self.readers = Readers(self.gate)

    async def finish_all(self) -> None:
        while any(not task.done() for task in self.readers.tasks.values()):
            await quiet()
            self.provider.finish(*self.provider.open)


@pytest.mark.req("LLM-40", "LLM-52", "LLM-53", "LLM-55", "LLM-110")
async def test_a_refusal_pauses_one_provider_and_users_go_first_when_it_resumes() -> None:
    house = House(first="Half a ", provider_limits={"script": 2})  # type: ignore[arg-type]
    house.readers.ask("refused", priority=60)
    await until(lambda: "refused" in house.provider.open)
    await quiet()
    house.provider.fail("refused", 429, {"retry-after": "7"})
    await until(lambda: bool(house.notices.of(LimitPaused)))
    for number in range(10):
        house.readers.ask(f"work{number}", priority=60)
    house.readers.ask("question", priority=100)
    house.readers.ask("elsewhere", priority=20, model="other")
    await until(lambda: "elsewhere" in house.provider.open)
    # The other provider goes on; nothing is sent to the one that is paused.
    assert house.provider.started == ["refused", "elsewhere"]
    (paused,) = house.notices.of(LimitPaused)
    assert (paused.provider, paused.resume_at) == ("script", house.time.now_ms() + 7000)
    assert house.notices.of(CallRequeued)[0].partial == "Half a "
    assert house.gate.snapshot().paused[0].remaining_seconds == 7
    house.time.advance(6.9)
    await quiet()
    assert house.provider.started == ["refused", "elsewhere"]
    house.time.advance(0.2)
    await quiet()
    assert house.provider.started[2:][:2] == ["question", "refused"]
    assert len(house.notices.of(LimitResumed)) == 1
    await house.finish_all()
    assert house.provider.started.count("refused") == 2
    assert sorted(set(house.provider.started[4:])) == sorted(f"work{n}" for n in range(10))


async def test_a_refused_call_is_ahead_of_its_equals_but_not_of_its_betters() -> None:
    house = House(global_limit=1)
    house.readers.ask("refused")
    await until(lambda: "refused" in house.provider.open)
    house.readers.ask("later")
    house.readers.ask("planned", priority=80)
    await quiet()
    house.provider.fail("refused", 429)
    await quiet()
    house.time.advance(1)
    await house.finish_all()
    assert house.provider.started == ["refused", "planned", "refused", "later"]
    assert any(isinstance(chunk, Restarted) for chunk in house.readers.chunks["refused"])


async def test_after_ten_refusals_a_call_fails_as_rate_limited() -> None:
    house = House(first="Half ")
    house.readers.ask("unlucky")
    for attempt in range(10):
        await until(lambda: "unlucky" in house.provider.open)
        await quiet()
        house.provider.fail("unlucky", 429)
        await until(lambda: "unlucky" not in house.provider.open)
        await quiet()
        if attempt < 9:
            house.time.advance(61)
    with pytest.raises(RateLimited) as failure:
        await house.readers.tasks["unlucky"]
    assert failure.value.tier is ErrorTier.EXTERNAL_RATE_LIMIT
    assert failure.value.context["attempts"] == 10
    assert failure.value.partial == "Half "
    assert len(house.provider.started) == 10
    assert house.gate.snapshot().in_flight_count == house.gate.snapshot().waiting_count == 0


@pytest.mark.req("LLM-54", "LLM-56")
async def test_an_answer_forgives_earlier_refusals() -> None:
    house = House()
    for attempt, wait in enumerate([1, 2, 4]):
        house.readers.ask(f"c{attempt}")
        await until(lambda: bool(house.provider.open))
        house.provider.fail(next(iter(house.provider.open)), 429)
        await quiet()
        assert house.gate.snapshot().paused[0].remaining_seconds == wait
        house.time.advance(wait)
        await quiet()
    await house.finish_all()
    house.readers.ask("afterwards")
    await until(lambda: "afterwards" in house.provider.open)
    house.provider.fail("afterwards", 429)
    await quiet()
    assert house.gate.snapshot().paused[0].remaining_seconds == 1
    house.time.advance(1)
    await house.finish_all()


async def test_calls_refused_together_burn_one_attempt_and_come_back_one_by_one() -> None:
    house = House()
    names = [f"c{number}" for number in range(8)]
    for name in names:
        house.readers.ask(name)
    await until(lambda: len(house.provider.open) == 8)
    for name in names:
        house.provider.fail(name, 429)
    await quiet()
    assert [body.attempt for body in house.notices.of(LimitPaused)] == [1]
    house.time.advance(1)
    await quiet()
    # One asks first whether the provider answers again.
    assert list(house.provider.open) == ["c0"]
    house.provider.finish("c0")
    await until(lambda: len(house.provider.open) == 7)
    await house.finish_all()
    assert house.provider.started[8:] == names


async def test_a_trial_that_fails_otherwise_or_leaves_opens_the_way() -> None:
    house = House()
    for name in ("a", "b", "c"):
        house.readers.ask(name)
    await until(lambda: len(house.provider.open) == 3)
    for name in ("a", "b", "c"):
        house.provider.fail(name, 429)
    await quiet()
    house.time.advance(1)
    await until(lambda: list(house.provider.open) == ["a"])
    await house.readers.cancel("a")
    await until(lambda: list(house.provider.open) == ["b"])
    house.readers.ask("d")
    house.provider.fail("b", 500)
    await until(lambda: set(house.provider.open) == {"c", "d"})
    with pytest.raises(ProviderError, match="500"):
        await house.readers.tasks["b"]
    house.provider.finish("c", "d")
    await house.readers.tasks["d"]


async def test_closing_the_queue_during_a_pause_leaves_no_timer() -> None:
    house = House()
    house.readers.ask("refused")
    await until(lambda: "refused" in house.provider.open)
    house.provider.fail("refused", 429)
    await quiet()
    assert house.time.armed == 1
    await house.gate.close()
    assert house.time.armed == 0
    with pytest.raises(QueueClosed):
        await house.readers.tasks["refused"]


async def test_without_a_limiter_a_refusal_is_an_error() -> None:
    gate = QueueGate(DirectGate({"script": Script(Line(fail=Failure(429)))}))
    with pytest.raises(ProviderError) as failure:
        await gate.complete(request("x"))
    assert failure.value.status == 429


async def test_a_quota_to_be_paid_for_pauses_nobody() -> None:
    house = House()
    house.readers.ask("poor")
    await until(lambda: "poor" in house.provider.open)
    error = ProviderError("insufficient_quota: buy more", status=429)
    house.provider.open["poor"].set_exception(error)
    with pytest.raises(ProviderError):
        await house.readers.tasks["poor"]
    assert house.notices.told == []


class Detour(WrapperGate):
    """Sends every call to another provider, as a fallback inside the queue would."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        return self.inner.stream(replace(request, model="other"))


async def test_a_limit_is_put_down_to_the_provider_that_was_really_asked() -> None:
    time, notices, provider = HandTime(), Notices(), Prompter()
    limiter = Limiter(clock=time, timer=time.after, notify=notices, jitter=lambda: 0.0)
    inner = Detour(LimiterGate(direct(provider, "script", "other"), limiter))
    gate = QueueGate(inner, limiter=limiter, notify=notices)
    readers = Readers(gate)
    readers.ask("a")
    readers.ask("b")
    await until(lambda: len(provider.open) == 2)
    provider.fail("a", 429, {"retry-after": "5"})
    await until(lambda: bool(notices.of(LimitPaused)))
    assert notices.of(LimitPaused)[0].provider == "other"
    assert limiter.may_start(Credential("script"))
    # A call that is sent there all the same is turned away at the door, and waits as well.
    readers.ask("c")
    await quiet()
    assert provider.started == ["a", "b"]
    assert gate.snapshot().waiting_count == 2
    time.advance(5)
    await until(lambda: "a" in provider.open)
    provider.finish("a", "b")
    await until(lambda: "c" in provider.open)
    provider.finish("c")
    for task in readers.tasks.values():
        await task
    assert provider.started.count("c") == 1


async def test_a_call_turned_away_at_the_door_has_used_up_no_attempt() -> None:
    time, provider = HandTime(), Prompter()
    once = RateLimitPolicy.make(1, 1.0, 60.0)
    limiter = Limiter(policy=once, clock=time, timer=time.after, jitter=lambda: 0.0)
    gate = QueueGate(Detour(LimiterGate(direct(provider, "other"), limiter)), limiter=limiter)
    readers = Readers(gate)
    readers.ask("refused")
    await until(lambda: "refused" in provider.open)
    provider.fail("refused", 429)
    with pytest.raises(RateLimited, match="refused 1 attempts"):
        await readers.tasks["refused"]
    readers.ask("patient")
    await quiet()
    time.advance(1)
    await until(lambda: "patient" in provider.open)
    provider.finish("patient")
    assert await readers.tasks["patient"] == "Once upon patient"


async def test_the_limiters_gate_refuses_calls_during_a_pause_and_learns_from_answers() -> None:
    time = HandTime()
    limiter = Limiter(clock=time, timer=time.after, jitter=lambda: 0.0)
    script = Script(Line(fail=Failure(429, headers={"Retry-After": "5"})), Line("fine", times=None))
    gate = LimiterGate(DirectGate({"script": script}), limiter, credential_of=keyless)
    with pytest.raises(ProviderError, match="429"):
        await gate.complete(request("x"))
    with pytest.raises(CredentialPaused, match="asked us to wait"):
        await gate.complete(request("x"))
    assert len(script.calls) == 1
    time.advance(5)
    assert (await gate.complete(request("x"))).text == "fine"
    assert limiter.views()[0].attempt == 0

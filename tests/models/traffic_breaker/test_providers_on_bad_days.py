"""Real sockets, the real provider class, on bad days: retried, stopped, answered by another."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest
from breaker_props import HandClock, Notices, ask, chunks_of, last_reply

from callboard.core.breaker import CircuitState
from callboard.core.errors import ProviderError
from callboard.core.events import CallRetried, CircuitChanged, ModelSwitched
from callboard.core.settings import Settings
from callboard.models import (
    CircuitOpen,
    DirectGate,
    ModelRequest,
    ProviderConfig,
    RemoteProvider,
    Restarted,
    TimeLimits,
)
from callboard.models.traffic.breaker import BreakerGate
from callboard.models.traffic.fallback import FallbackGate, FallbackRules
from callboard.models.traffic.retry import RetryGate
from callboard.models.traffic.shared_breakers import SharedBreakers
from callboard.store.database import Database
from callboard.testing.openai_server import OpenAIServer, http_error, reply

pytestmark = pytest.mark.anyio

BadDay = Callable[[OpenAIServer], None]


def answers_500(server: OpenAIServer) -> None:
    server.fails(500, '{"error": {"message": "oops"}}')


def answers_503(server: OpenAIServer) -> None:
    server.fails(503, "not json at all")


def cuts_the_line(server: OpenAIServer) -> None:
    server.drops_after("The sea is wi")


def ends_in_the_middle(server: OpenAIServer) -> None:
    server.ends_early("The sea is wi")


def falls_silent(server: OpenAIServer) -> None:
    server.hangs("The sea is wi")


def closes_the_connection(server: OpenAIServer) -> None:
    server.hangs_up()


PASSING: list[BadDay] = [
    answers_500,
    answers_503,
    cuts_the_line,
    ends_in_the_middle,
    falls_silent,
    closes_the_connection,
]


def patient(bad_day: BadDay) -> ModelRequest:
    """Return a request that bears silence only as long as the test wants to wait for it."""
    return ask("house:tiny", inactivity_seconds=1.0 if bad_day is falls_silent else None)


@dataclass
class House:
    """A gate as the studio composes it, between this test and two real servers."""

    server: OpenAIServer
    spare: OpenAIServer
    clock: HandClock
    notices: Notices
    breakers: SharedBreakers
    guarded: BreakerGate
    gate: FallbackGate
    asked: ModelRequest = field(default_factory=lambda: ask("house:tiny"))

    @property
    def state(self) -> CircuitState:
        return self.breakers.breaker("llm:house").state


@pytest.fixture(scope="module")
def sdk() -> None:
    """Load the provider's SDK before anything is measured in seconds of silence."""
    import openai.resources.chat  # noqa: F401
    import pydantic_ai.models.openai  # noqa: F401


@pytest.fixture
async def house(
    sdk: None,
    openai_server: OpenAIServer,
    database: Database,
    clock: HandClock,
    notices: Notices,
) -> AsyncIterator[House]:
    async with OpenAIServer.listening() as spare:
        configs = {
            "house": ProviderConfig(base_url=openai_server.url),
            "spare": ProviderConfig(base_url=spare.url),
        }
        settings = Settings()
        rules = settings.circuit.rules()
        breakers = SharedBreakers(database, rules, clock=clock, notify=notices)
        provider = RemoteProvider({}, configs)
        direct = DirectGate({}, fallback=provider, limits=TimeLimits(60.0, 60.0))
        guarded = BreakerGate(direct, breakers, clock=clock)
        retry = RetryGate(
            guarded,
            settings.errors.retry.policies(),
            clock=clock,
            sleep=clock.sleep,
            notify=notices,
        )
        chain = FallbackRules({"house": ("spare:tiny",)})
        gate = FallbackGate(retry, chain, clock=clock, notify=notices)
        yield House(openai_server, spare, clock, notices, breakers, guarded, gate)
        await gate.close()


@pytest.mark.parametrize("bad_day", PASSING)
async def test_what_passes_is_retried_until_it_has_passed(house: House, bad_day: BadDay) -> None:
    bad_day(house.server)
    house.server.says("The sea is calm.")
    chunks = await chunks_of(house.gate, patient(bad_day))
    answer = last_reply(chunks)
    assert (answer.text, answer.attempts, answer.switched_from) == ("The sea is calm.", 2, None)
    assert len(house.server.bodies) == 2
    assert house.spare.bodies == []
    (told,) = house.notices.of(CallRetried)
    had_text = bad_day in (cuts_the_line, ends_in_the_middle, falls_silent)
    assert told.partial == ("The sea is wi" if had_text else "")
    assert any(isinstance(chunk, Restarted) for chunk in chunks) == had_text


@pytest.mark.parametrize("bad_day", PASSING)
async def test_what_does_not_pass_is_answered_by_another_model(
    house: House, bad_day: BadDay
) -> None:
    for _ in range(6):
        bad_day(house.server)
    house.spare.says("The sea is calm.")
    answer = await house.gate.complete(patient(bad_day))
    assert (answer.text, answer.model) == ("The sea is calm.", "spare:tiny")
    assert (answer.switched_from, answer.attempts) == ("house:tiny", 1)
    is_degrading = bad_day in (answers_500, answers_503)
    assert len(house.server.bodies) == (3 if is_degrading else 5)
    (switched,) = house.notices.of(ModelSwitched)
    assert switched.reason == ("degrading" if is_degrading else "transient")
    # Five failures in a row open the circuit; three do not.
    assert house.state is (CircuitState.CLOSED if is_degrading else CircuitState.OPEN)


@pytest.mark.parametrize(
    "body",
    [b"<html>gateway on holiday</html>", b"data: {not json}\n\n", b'data: {"choices": 7}\n\n'],
)
async def test_garbage_is_neither_retried_nor_counted(house: House, body: bytes) -> None:
    """An answer nobody understands is permanent: it is shown, not hidden behind retries."""
    house.server.says_raw(body)
    with pytest.raises(ProviderError) as caught:
        await house.gate.complete(house.asked)
    assert "house:tiny" in caught.value.message
    assert len(house.server.bodies) == 1
    assert house.spare.bodies == []
    assert house.state is CircuitState.CLOSED


@pytest.mark.req("ERR-34", "ERR-38", "ERR-39", "ERR-40")
async def test_an_outage_from_its_beginning_to_its_end(house: House) -> None:
    house.server.standing = http_error(500, '{"error": {"message": "oops"}}')
    house.spare.standing = reply("The spare sea is calm.")
    for _ in range(4):
        answer = await house.gate.complete(house.asked)
        assert answer.switched_from == "house:tiny"
    # Three attempts, then two that open the circuit; from then on nobody knocks.
    assert len(house.server.bodies) == 5
    assert [each.reason for each in house.notices.of(ModelSwitched)] == [
        "degrading",
        *["circuit_open"] * 3,
    ]
    house.clock.advance(30)
    await house.gate.complete(house.asked)
    assert len(house.server.bodies) == 6
    assert house.state is CircuitState.OPEN
    house.server.standing = reply("The sea is calm.")
    house.clock.advance(30)
    for _ in range(4):
        assert (await house.gate.complete(house.asked)).switched_from is None
    assert [each.state for each in house.notices.of(CircuitChanged)] == [
        "open",
        "half_open",
        "open",
        "half_open",
        "closed",
    ]


async def test_without_a_stand_in_an_open_circuit_says_when_and_how(
    house: House, database: Database
) -> None:
    house.server.standing = http_error(503)
    gate = FallbackGate(house.gate.inner, FallbackRules())
    for _ in range(2):
        with pytest.raises(ProviderError):
            await gate.complete(house.asked)
    before = len(house.server.bodies)
    with pytest.raises(CircuitOpen) as caught:
        await gate.complete(house.asked)
    assert len(house.server.bodies) == before
    assert "callboard models reset house" in (caught.value.fix or "")
    house.server.standing = reply("Back again.")
    await house.breakers.reset("llm:house")
    assert (await gate.complete(house.asked)).text == "Back again."


@pytest.mark.req("ERR-41", "ERR-151")
async def test_a_crowd_during_an_outage_is_answered_and_knocks_seldom(house: House) -> None:
    house.server.standing = http_error(500)
    house.spare.standing = reply("The spare sea is calm.")
    # Without retries: their waits would move the clock over the cooldown.
    gate = FallbackGate(house.guarded, FallbackRules({"house": ("spare:tiny",)}))
    answers = await asyncio.gather(*(gate.complete(house.asked) for _ in range(20)))
    assert {each.text for each in answers} == {"The spare sea is calm."}
    assert len(house.spare.bodies) == 20
    assert 5 <= len(house.server.bodies) <= 20
    assert house.state is CircuitState.OPEN
    house.clock.advance(30)
    before = len(house.server.bodies)
    await asyncio.gather(*(gate.complete(house.asked) for _ in range(20)))
    assert len(house.server.bodies) == before + 1


async def test_a_call_given_up_leaves_nothing_behind(house: House) -> None:
    await house.gate.inner.complete(_warm(house))
    before = asyncio.all_tasks()
    house.server.is_hanging.clear()
    house.server.hangs("The sea")
    task = asyncio.create_task(house.gate.complete(house.asked))
    await house.server.is_hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await house.server.was_left.wait()
        while asyncio.all_tasks() - before:
            await asyncio.sleep(0)
    assert house.breakers.breaker("llm:house").failures == 0


def _warm(house: House) -> ModelRequest:
    house.server.says("Open the client first.")
    return house.asked

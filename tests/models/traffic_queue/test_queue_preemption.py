"""Making room for the user: who has to leave, what is kept, and what never happens."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest
from foyer import Notices, Prompter, Readers, direct, quiet, request, until

from callboard.core.events import CallRequeued
from callboard.core.settings.sections import QueueSettings
from callboard.models import (
    Chunk,
    Finished,
    Gate,
    ModelRequest,
    Restarted,
    TextChunk,
    Working,
    WrapperGate,
)
from callboard.models.traffic.queue import QueueGate

pytestmark = pytest.mark.anyio


def house(**limits: object) -> tuple[Prompter, QueueGate, Readers, Notices]:
    provider, notices = Prompter(), Notices()
    gate = QueueGate(
        direct(provider, "script", "other"),
        QueueSettings(**limits),  # type: ignore[arg-type]
        notify=notices,
    )
    return provider, gate, Readers(gate), notices


async def drain_all(provider: Prompter, readers: Readers) -> dict[str, str]:
    while any(not task.done() for task in readers.tasks.values()):
        await quiet()
        provider.finish(*[name for name, ending in provider.open.items() if not ending.done()])
    return {name: task.result() for name, task in readers.tasks.items()}


@pytest.mark.req("LLM-109", "ERR-127", "ERR-128")
async def test_the_lowest_priority_gives_way_keeps_its_text_and_runs_again() -> None:
    provider, _, readers, notices = house(global_limit=3)
    readers.ask("plan", priority=80, session_id="one")
    readers.ask("index", priority=20, session_id="two")
    readers.ask("build", priority=60, session_id="one")
    await until(lambda: len(provider.open) == 3)
    await quiet()
    readers.ask("question", priority=100, session_id="three")
    await until(lambda: "question" in provider.open)
    assert provider.closed == ["index"]
    assert notices.of(CallRequeued) == [
        CallRequeued(2, "script", 20, "preempted", 1, partial="Once ")
    ]
    # Told about the request that lost its slot, so that its session hears of it.
    assert notices.told[0][1] is not None
    assert notices.told[0][1].session_id == "two"
    replies = await drain_all(provider, readers)
    assert replies["index"] == "Once upon index"
    kinds = [type(chunk) for chunk in readers.chunks["index"]]
    assert kinds == [TextChunk, Restarted, Working, TextChunk, TextChunk, Finished]
    assert provider.started.count("index") == 2


@pytest.mark.req("ERR-128", "LLM-109")
async def test_nobody_gives_way_while_a_slot_is_free() -> None:
    provider, _, readers, notices = house(global_limit=3)
    readers.ask("index", priority=20)
    readers.ask("question", priority=100)
    await until(lambda: len(provider.open) == 2)
    assert notices.told == []
    await drain_all(provider, readers)


@pytest.mark.req("ERR-130")
async def test_preemption_can_be_switched_off_and_on() -> None:
    provider, gate, readers, _ = house(global_limit=1, user_preemption=False)
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    readers.ask("question", priority=100)
    await quiet()
    assert list(provider.open) == ["index"]
    gate.retune(user_preemption=True)
    await until(lambda: "question" in provider.open)
    await drain_all(provider, readers)


@pytest.mark.parametrize("limits", [{"global_limit": 4}, {"provider_limit": 4}])
async def test_one_user_displaces_one_call_only(limits: dict[str, int]) -> None:
    provider, _, readers, notices = house(**limits)
    for number in range(4):
        readers.ask(f"w{number}", priority=20)
    await until(lambda: len(provider.open) == 4)
    await quiet()
    readers.ask("u0", priority=100)
    readers.ask("u1", priority=100)
    await until(lambda: {"u0", "u1"} <= set(provider.open))
    await quiet()
    assert len(notices.of(CallRequeued)) == 2
    assert provider.most_open == 4
    await drain_all(provider, readers)


async def test_among_equals_the_one_with_least_output_then_the_newest_gives_way() -> None:
    provider, _, readers, notices = house(global_limit=3)
    provider.first = "short "
    readers.ask("older", priority=20)
    readers.ask("newer", priority=20)
    await until(lambda: len(provider.open) == 2)
    provider.first = "a long beginning "
    readers.ask("long", priority=20)
    await until(lambda: "long" in provider.open)
    await quiet()
    for name in ("u0", "u1", "u2"):
        readers.ask(name, priority=100)
        await until(lambda name=name: name in provider.open)
    partials = [body.partial for body in notices.of(CallRequeued)]
    assert provider.closed == ["newer", "older", "long"]
    assert partials == ["short ", "short ", "a long beginning "]
    await drain_all(provider, readers)


@pytest.mark.req("LLM-109")
async def test_a_call_is_displaced_three_times_at_most() -> None:
    provider, _, readers, notices = house(global_limit=1)
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    for number in range(3):
        name = f"u{number}"
        readers.ask(name, priority=100)
        await until(lambda name=name: name in provider.open)
        provider.finish(name)
        await until(lambda: "index" in provider.open)
        await quiet()
    readers.ask("u3", priority=100)
    await quiet()
    assert list(provider.open) == ["index"]
    assert [body.count for body in notices.of(CallRequeued)] == [1, 2, 3]
    await drain_all(provider, readers)


async def test_a_full_provider_makes_room_itself_and_a_full_house_anywhere() -> None:
    provider, _, readers, _ = house(global_limit=3, provider_limits={"script": 1})
    readers.ask("here", priority=60)
    readers.ask("there", priority=20, model="other")
    await until(lambda: len(provider.open) == 2)
    await quiet()
    readers.ask("u0", priority=100)
    await until(lambda: "u0" in provider.open)
    # Only a slot of its own provider helps, although the other call matters less.
    assert provider.closed == ["here"]
    readers.ask("more", priority=60, model="other")
    await until(lambda: "more" in provider.open)
    await quiet()
    readers.ask("u1", priority=100, model="other")
    await until(lambda: "u1" in provider.open)
    assert provider.closed == ["here", "there"]
    await drain_all(provider, readers)


async def test_users_do_not_displace_each_other() -> None:
    provider, _, readers, notices = house(global_limit=2)
    readers.ask("u0", priority=100)
    readers.ask("u1", priority=84)
    await until(lambda: len(provider.open) == 2)
    readers.ask("u2", priority=100)
    await quiet()
    assert set(provider.open) == {"u0", "u1"}
    assert notices.told == []
    await drain_all(provider, readers)


async def test_a_reader_who_is_away_gives_way_when_it_comes_back() -> None:
    provider, gate, readers, _ = house(global_limit=1)
    async with aclosing(gate.stream(request("slow", priority=20))) as slow:
        assert await anext(slow) == TextChunk("Once ")
        readers.ask("question", priority=100)
        await quiet()
        assert list(provider.open) == ["slow"]
        assert isinstance(await anext(slow), Restarted)
        await until(lambda: "question" in provider.open)
        provider.finish("question")
        rest = asyncio.create_task(_rest(slow))
        await until(lambda: "slow" in provider.open)
        provider.finish("slow")
        assert await rest == "Once upon slow"
    await readers.tasks["question"]


async def test_somebody_who_can_leave_at_once_is_preferred_to_a_reader_who_is_away() -> None:
    provider, gate, readers, _ = house(global_limit=2)
    async with aclosing(gate.stream(request("away", priority=20))) as away:
        await anext(away)
        readers.ask("busy", priority=60)
        await until(lambda: "busy" in provider.open)
        await quiet()
        readers.ask("question", priority=100)
        await until(lambda: "question" in provider.open)
        assert provider.closed == ["busy"]
    await drain_all(provider, readers)


async def test_a_reader_cancelled_while_it_gives_way_is_cancelled() -> None:
    provider, gate, readers, _ = house(global_limit=1)
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    await quiet()
    readers.ask("question", priority=100)
    await asyncio.sleep(0)
    readers.tasks["index"].cancel()
    await asyncio.wait([readers.tasks["index"]])
    assert readers.tasks["index"].cancelled()
    await until(lambda: "question" in provider.open)
    await drain_all(provider, Readers(gate))
    provider.finish("question")
    assert await readers.tasks["question"] == "Once upon question"
    assert gate.snapshot().in_flight_count == gate.snapshot().waiting_count == 0


async def test_a_time_limit_around_the_reader_still_counts_after_it_gave_way() -> None:
    provider, gate, readers, _ = house(global_limit=1)

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await gate.complete(request("index", priority=20))

    task = asyncio.create_task(impatient())
    await until(lambda: "index" in provider.open)
    readers.ask("question", priority=100)
    await until(lambda: "question" in provider.open)
    with pytest.raises(TimeoutError):
        await task
    assert task.cancelling() == 0
    provider.finish("question")
    await readers.tasks["question"]
    assert gate.snapshot().waiting_count == 0


class SlowLedger(WrapperGate):
    """Books an answer before it passes it on, and remembers how calls were ended."""

    def __init__(self, inner: Gate) -> None:
        super().__init__(inner)
        self.is_booking = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.endings: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        try:
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished) and request.prompt_text == "index":
                        self.is_booking.set()
                        await self.may_go_on.wait()
                    yield chunk
        except asyncio.CancelledError:
            self.endings.append(request.ending.reason)
            raise


async def test_a_call_that_has_its_answer_is_not_interrupted_any_more() -> None:
    provider = Prompter()
    ledger = SlowLedger(direct(provider))
    readers = Readers(QueueGate(ledger, QueueSettings(global_limit=1)))
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    provider.finish("index")
    await ledger.is_booking.wait()
    readers.ask("question", priority=100)
    await quiet()
    assert provider.started == ["index"]
    ledger.may_go_on.set()
    await until(lambda: "question" in provider.open)
    provider.finish("question")
    assert await readers.tasks["index"] == "Once upon index"
    await readers.tasks["question"]
    assert provider.started == ["index", "question"]


async def test_of_two_calls_the_one_without_its_answer_gives_way() -> None:
    provider = Prompter()
    ledger = SlowLedger(direct(provider))
    readers = Readers(QueueGate(ledger, QueueSettings(global_limit=2)))
    readers.ask("index", priority=20)
    readers.ask("build", priority=60)
    await until(lambda: len(provider.open) == 2)
    provider.finish("index")
    await ledger.is_booking.wait()
    readers.ask("u0", priority=100)
    readers.ask("u1", priority=100)
    await until(lambda: "u0" in provider.open)
    assert provider.started == ["index", "build", "u0"]
    ledger.may_go_on.set()
    await until(lambda: "u1" in provider.open)
    await drain_all(provider, readers)
    assert provider.started.count("index") == 1


class Stutter(WrapperGate):
    """Says something it takes back at once."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        yield TextChunk("Nonsense. ")
        yield Restarted("nonsense")
        async with aclosing(self.inner.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk


async def test_text_that_was_taken_back_is_not_kept() -> None:
    provider, notices = Prompter(), Notices()
    limits = QueueSettings(global_limit=1)
    readers = Readers(QueueGate(Stutter(direct(provider)), limits, notify=notices))
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    await quiet()
    readers.ask("question", priority=100)
    await drain_all(provider, readers)
    assert [body.partial for body in notices.of(CallRequeued)] == ["Once "]


async def test_the_gates_inside_hear_why_a_call_was_ended() -> None:
    provider = Prompter()
    ledger = SlowLedger(direct(provider))
    ledger.may_go_on.set()
    readers = Readers(QueueGate(ledger, QueueSettings(global_limit=1)))
    readers.ask("index", priority=20)
    await until(lambda: "index" in provider.open)
    await quiet()
    readers.ask("question", priority=100)
    await until(lambda: "question" in provider.open)
    provider.finish("question")
    await until(lambda: "index" in provider.open)
    await quiet()
    await readers.cancel("index")
    assert ledger.endings == ["preempted", ""]


async def _rest(chunks: object) -> str:
    async for chunk in chunks:  # type: ignore[attr-defined]
        if isinstance(chunk, Finished):
            return chunk.reply.text
    raise AssertionError("a stream without end")

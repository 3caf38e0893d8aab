"""Coming and going: cancellation, closing, errors, and what is left afterwards."""

import asyncio
import gc
from contextlib import aclosing

import pytest
from foyer import Prompter, Readers, direct, quiet, request, until

from callboard.core.errors import ProviderError
from callboard.core.settings.sections import QueueSettings
from callboard.models import DirectGate, Line, Script, TextChunk, UnknownModel, Working
from callboard.models.errors import QueueClosed
from callboard.models.traffic.queue import QueueGate

pytestmark = pytest.mark.anyio


def is_idle(gate: QueueGate) -> bool:
    snapshot = gate.snapshot()
    return snapshot.waiting_count == snapshot.in_flight_count == 0


def other_tasks() -> set[asyncio.Task[object]]:
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


@pytest.mark.req("LLM-48", "LLM-111")
async def test_a_call_waits_until_there_is_a_slot_and_returns_its_answer() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    readers = Readers(gate)
    readers.ask("first")
    readers.ask("second")
    await until(lambda: "first" in provider.open)
    await quiet()
    assert readers.chunks["second"] == [Working("waiting for a slot")]
    provider.finish("first")
    await until(lambda: "second" in provider.open)
    provider.finish("second")
    assert await readers.tasks["second"] == "Once upon second"


@pytest.mark.req("LLM-111")
@pytest.mark.parametrize("victim", ["running", "waiting"])
async def test_a_reader_who_leaves_frees_its_place_and_leaves_no_task(victim: str) -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    before = other_tasks()
    readers = Readers(gate)
    for name in ("running", "waiting", "last"):
        readers.ask(name)
    await until(lambda: "running" in provider.open)
    # Waiting and streaming happen in the reader's own task; the queue starts none.
    assert other_tasks() - before == set(readers.tasks.values())
    await readers.cancel(victim)
    assert readers.tasks[victim].cancelled()
    await until(lambda: victim == "waiting" or "waiting" in provider.open)
    while not all(task.done() for task in readers.tasks.values()):
        await quiet()
        provider.finish(*provider.open)
    assert await readers.tasks["last"] == "Once upon last"
    assert other_tasks() == before
    assert is_idle(gate)
    assert (victim in provider.started) == (victim == "running")


@pytest.mark.req("LLM-111")
async def test_a_call_cancelled_as_its_turn_comes_passes_the_slot_on() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    readers = Readers(gate)
    for name in ("first", "second", "third"):
        readers.ask(name)
    await quiet()
    provider.finish("first")
    await until(lambda: gate.snapshot().waiting_count == 1)
    # Its slot is granted, its reader has not woken yet.
    assert "second" not in provider.open
    await readers.cancel("second")
    await until(lambda: "third" in provider.open)
    provider.finish("third")
    await readers.tasks["third"]
    assert is_idle(gate)


async def test_a_stream_left_in_the_middle_frees_its_slot_and_closes_the_provider() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    async with aclosing(gate.stream(request("half read"))) as chunks:
        assert await anext(chunks) == TextChunk("Once ")
        assert not is_idle(gate)
    assert provider.closed == ["half read"]
    assert is_idle(gate)


async def test_a_stream_never_read_costs_no_slot() -> None:
    gate = QueueGate(direct(Prompter()), QueueSettings(global_limit=1))
    stream = gate.stream(request("never"))
    assert is_idle(gate)
    await stream.aclose()
    assert is_idle(gate)


async def test_the_slot_is_free_before_the_answer_is_handed_over() -> None:
    gate = QueueGate(DirectGate({"script": Script("Done.")}), QueueSettings(global_limit=1))
    async for chunk in gate.stream(request("x")):
        if type(chunk).__name__ == "Finished":
            assert is_idle(gate)


async def test_a_failure_frees_the_slot_and_reaches_the_reader() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    readers = Readers(gate)
    readers.ask("broken")
    readers.ask("next")
    await until(lambda: "broken" in provider.open)
    provider.fail("broken", 500)
    await until(lambda: "next" in provider.open)
    with pytest.raises(ProviderError, match="500"):
        await readers.tasks["broken"]
    provider.finish("next")
    await readers.tasks["next"]
    with pytest.raises(UnknownModel):
        await gate.complete(request("x", model="nobody:nothing"))
    assert is_idle(gate)


@pytest.mark.req("LLM-48")
async def test_closing_tells_everybody_who_waits_and_refuses_newcomers() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    readers = Readers(gate)
    for name in ("running", "waiting", "waiting too"):
        readers.ask(name)
    await until(lambda: "running" in provider.open)
    await quiet()
    away = gate.stream(request("away"))
    assert isinstance(await anext(away), Working)
    await gate.close()
    for name in ("waiting", "waiting too"):
        with pytest.raises(QueueClosed, match="the queue is closed"):
            await readers.tasks[name]
    with pytest.raises(QueueClosed):
        await anext(away)
    with pytest.raises(QueueClosed):
        await gate.complete(request("late"))
    await asyncio.wait([readers.tasks["running"]])
    assert is_idle(gate)


async def test_a_closed_queue_keeps_nobody_waiting_unheard() -> None:
    gate = QueueGate(direct(Prompter()), QueueSettings(global_limit=1))
    running = gate.stream(request("running"))
    await anext(running)
    away = gate.stream(request("away"))
    await anext(away)
    await gate.close()
    await away.aclose()
    await running.aclose()
    gc.collect()
    assert is_idle(gate)


async def test_ten_thousand_calls_can_wait_and_leave_again() -> None:
    provider = Prompter()
    gate = QueueGate(direct(provider), QueueSettings(global_limit=1))
    readers = Readers(gate)
    readers.ask("running")
    await until(lambda: "running" in provider.open)
    streams = [gate.stream(request("w", session_id=f"s{number % 100}")) for number in range(10_000)]
    for stream in streams:
        assert isinstance(await anext(stream), Working)
    assert gate.snapshot().waiting_count == 10_000
    for stream in streams:
        await stream.aclose()
    assert gate.snapshot().waiting_count == 0
    provider.finish("running")
    await readers.tasks["running"]
    assert is_idle(gate)


async def test_a_line_of_scripted_answers_passes_in_order() -> None:
    script = Script(*(Line(f"reply {number}") for number in range(5)))
    gate = QueueGate(DirectGate({"script": script}), QueueSettings(global_limit=1))
    replies = await asyncio.gather(*(gate.complete(request(f"q{n}")) for n in range(5)))
    assert [reply.text for reply in replies] == [f"reply {n}" for n in range(5)]
    assert script.prompts == [f"q{n}" for n in range(5)]

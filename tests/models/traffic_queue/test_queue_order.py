"""Who goes next: priorities, turns between sessions, and limits that hold."""

import pytest
from foyer import Prompter, Readers, direct, quiet, until
from pydantic import ValidationError

from callboard.core.settings.sections import QueueSettings
from callboard.models.traffic.queue import QueueGate

pytestmark = pytest.mark.anyio


async def finish_in_order(provider: Prompter, readers: Readers, total: int) -> list[str]:
    """Finish calls one after the other and return the order in which they started."""
    while len(provider.closed) < total:
        await until(lambda: bool(provider.open))
        await quiet()
        provider.finish(*provider.open)
        await quiet()
    for task in readers.tasks.values():
        await task
    return provider.started


def house(**limits: object) -> tuple[Prompter, QueueGate, Readers]:
    provider = Prompter()
    gate = QueueGate(direct(provider, "script", "other"), QueueSettings(**limits))  # type: ignore[arg-type]
    return provider, gate, Readers(gate)


@pytest.mark.req("LLM-46", "LLM-107", "LLM-108", "ERR-124", "ERR-126")
async def test_higher_priorities_are_served_first_and_equals_in_order() -> None:
    provider, _, readers = house(global_limit=1, user_preemption=False)
    readers.ask("first", priority=20)
    await until(lambda: provider.started == ["first"])
    for name, priority in [
        ("background", 20),
        ("validation", 40),
        ("unset", 0),
        ("execution", 60),
        ("planning", 80),
        ("user", 100),
        ("user later", 100),
    ]:
        readers.ask(name, priority=priority, session_id="one")
    await quiet()
    order = await finish_in_order(provider, readers, 8)
    assert order == [
        "first",
        "user",
        "user later",
        "planning",
        "unset",
        "execution",
        "validation",
        "background",
    ]


@pytest.mark.req("ERR-126")
async def test_sessions_take_turns_and_each_keeps_its_own_order() -> None:
    provider, _, readers = house(global_limit=1)
    readers.ask("first")
    await until(lambda: provider.started == ["first"])
    for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1"):
        readers.ask(name, session_id=name[0])
    await quiet()
    order = await finish_in_order(provider, readers, 8)
    assert order[1:] == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


async def test_sessions_take_turns_across_providers_too() -> None:
    provider, _, readers = house(global_limit=1)
    readers.ask("first")
    await until(lambda: provider.started == ["first"])
    for name in ("a1", "a2", "a3"):
        readers.ask(name, session_id="a")
    for name in ("b1", "b2", "b3"):
        readers.ask(name, session_id="b", model="other")
    await quiet()
    order = await finish_in_order(provider, readers, 7)
    assert order[1:] == ["a1", "b1", "a2", "b2", "a3", "b3"]


async def test_newcomers_never_push_a_waiting_session_back() -> None:
    provider, _, readers = house(global_limit=1)
    readers.ask("first")
    await until(lambda: provider.started == ["first"])
    readers.ask("patient1", session_id="patient", model="other")
    readers.ask("patient2", session_id="patient", model="other")
    for number in range(10):
        readers.ask(f"new{number}", session_id=f"s{number}")
        await quiet()
        provider.finish(*provider.open)
        await quiet()
    assert {"patient1", "patient2"} <= set(provider.started[:5])
    await finish_in_order(provider, readers, 13)


@pytest.mark.req("ERR-125", "LLM-105")
async def test_the_users_calls_are_served_in_order_of_arrival_across_sessions() -> None:
    provider, _, readers = house(global_limit=1)
    readers.ask("first", priority=100)
    await until(lambda: provider.started == ["first"])
    names = ["a1", "a2", "b1", "a3", "c1"]
    for name in names:
        readers.ask(name, priority=100, session_id=name[0])
    await quiet()
    assert (await finish_in_order(provider, readers, 6))[1:] == names


@pytest.mark.req("LLM-105", "ERR-125", "ERR-129")
async def test_a_session_has_so_many_calls_under_way_but_its_user_is_not_held_back() -> None:
    provider, gate, readers = house(session_limit=2)
    for number in range(4):
        readers.ask(f"work{number}", session_id="busy")
    readers.ask("elsewhere", session_id="idle")
    for name in ("nobody1", "nobody2", "nobody3"):
        readers.ask(name)
    await quiet()
    free = {"nobody1", "nobody2", "nobody3"}
    assert set(provider.open) == {"work0", "work1", "elsewhere", *free}
    readers.ask("question", session_id="busy", priority=100)
    await until(lambda: "question" in provider.open)
    assert gate.snapshot().waiting_count == 2
    provider.finish("work0")
    await quiet()
    # The user's call counts, so the session is still at its limit.
    assert "work2" not in provider.open
    provider.finish("question", "work1")
    await until(lambda: {"work2", "work3"} <= set(provider.open))
    await finish_in_order(provider, readers, 9)


async def test_ten_calls_of_a_session_are_under_way_by_default() -> None:
    provider, _, readers = house()
    for number in range(15):
        readers.ask(f"w{number}", session_id="busy")
    await quiet()
    assert len(provider.open) == 10
    await finish_in_order(provider, readers, 15)


async def test_a_full_provider_does_not_hold_back_the_others() -> None:
    provider, gate, readers = house(global_limit=5, provider_limits={"script": 1})
    for name in ("a", "b", "c"):
        readers.ask(name)
    for name in ("x", "y", "z"):
        readers.ask(name, model="other")
    await quiet()
    assert set(provider.open) == {"a", "x", "y", "z"}
    assert gate.snapshot().waiting_count == 2
    await finish_in_order(provider, readers, 6)


async def test_limits_can_be_changed_while_calls_wait() -> None:
    provider, gate, readers = house(global_limit=1)
    for number in range(6):
        readers.ask(f"w{number}")
    await quiet()
    assert len(provider.open) == 1
    gate.retune(global_limit=3)
    await until(lambda: len(provider.open) == 3)
    gate.retune(provider_limits={"script": 2})
    provider.finish("w0")
    await quiet()
    # Two are left under way: a lower limit interrupts nobody and lets nobody new in.
    assert set(provider.open) == {"w1", "w2"}
    gate.retune(provider_limits={"script": 10}, global_limit=10)
    await until(lambda: len(provider.open) == 5)
    await finish_in_order(provider, readers, 6)


async def test_a_limit_that_lets_nothing_through_is_refused() -> None:
    _provider, gate, _readers = house(global_limit=2)
    with pytest.raises(ValidationError, match="global_limit"):
        gate.retune(global_limit=0)
    with pytest.raises(ValidationError, match="openai"):
        gate.retune(provider_limits={"openai": 0})
    assert gate.snapshot().limits.global_limit == 2


async def test_a_snapshot_counts_by_provider_priority_and_session() -> None:
    provider, gate, readers = house(global_limit=2, user_preemption=False)
    readers.ask("a", session_id="one", priority=20)
    readers.ask("b", session_id="one", priority=20)
    readers.ask("c", session_id="two", priority=100)
    readers.ask("d", session_id="two", model="other")
    readers.ask("e", session_id="two", model="other")
    await quiet()
    told = gate.snapshot().to_json()
    assert told["in_flight"] == [
        {"provider": "script", "priority": 20, "session_id": "one", "count": 2}
    ]
    assert told["waiting"] == [
        {"provider": "script", "priority": 100, "session_id": "two", "count": 1},
        {"provider": "other", "priority": 60, "session_id": "two", "count": 2},
    ]
    assert told["paused"] == []
    await finish_in_order(provider, readers, 5)
    assert gate.snapshot().in_flight == gate.snapshot().waiting == ()

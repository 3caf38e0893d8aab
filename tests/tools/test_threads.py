"""Work in threads: so many at a time, and none goes on that nobody waits for."""

import asyncio
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from callboard.core.errors import CallboardError
from callboard.tools import (
    Tool,
    ToolArgs,
    ToolContext,
    ToolRegistry,
    ToolResult,
    in_thread,
    off_loop,
    threads,
    tool,
)

pytestmark = pytest.mark.anyio


def alive(name: str) -> int:
    return sum(each.name == name for each in threading.enumerate())


async def until_gone(name: str) -> None:
    while alive(name):
        await asyncio.sleep(0)


async def test_what_nobody_waits_for_is_stopped() -> None:
    has_begun = threading.Event()

    def burns() -> None:
        has_begun.set()
        for number in itertools.count():
            try:
                str(number)
            except Exception:  # noqa: BLE001, S112 - what a careless tool does
                continue

    working = asyncio.ensure_future(in_thread(burns, is_stoppable=True)())
    while not has_begun.is_set():
        await asyncio.sleep(0)
    working.cancel()
    await asyncio.wait({working})
    assert working.cancelled()
    await until_gone("burns")


async def test_what_may_not_be_stopped_comes_to_its_end() -> None:
    may_go_on, is_done = threading.Event(), threading.Event()

    def writes() -> None:
        may_go_on.wait()
        is_done.set()

    working = asyncio.ensure_future(in_thread(writes)())
    while not alive("writes"):
        await asyncio.sleep(0)
    working.cancel()
    await asyncio.wait({working})
    may_go_on.set()
    await until_gone("writes")
    assert is_done.is_set()


async def test_there_are_never_more_threads_than_places() -> None:
    may_go_on = threading.Event()
    inside: list[int] = []

    def waits(number: int) -> int:
        inside.append(number)
        may_go_on.wait()
        return number

    call = in_thread(waits)
    working = [asyncio.ensure_future(call(number)) for number in range(3 * threads.MOST_THREADS)]
    while len(inside) < threads.MOST_THREADS:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)
    assert alive("waits") == len(inside) == threads.MOST_THREADS
    # An abandoned thread keeps its place as long as it lives.
    working[0].cancel()
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(inside) == threads.MOST_THREADS
    may_go_on.set()
    done = await asyncio.gather(*working[1:])
    assert done == list(range(1, len(working)))


async def test_work_that_takes_too_long_is_an_error_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "WORK_SECONDS", 0.05)

    def ponders() -> None:
        while True:
            pass

    with pytest.raises(CallboardError) as told:
        await off_loop(ponders)
    assert told.value.code == "work_too_long" and told.value.fix
    await until_gone("ponders")
    # An error of the work itself stays what it is.
    with pytest.raises(TimeoutError):
        await off_loop(_times_out)


def _times_out() -> None:
    raise TimeoutError("of its own")


class Nothing(ToolArgs):
    pass


async def test_a_tool_that_only_reads_is_stoppable() -> None:
    @tool()
    def counts_for_ever(context: ToolContext, args: Nothing) -> ToolResult:
        """Count."""
        while True:
            time.monotonic()

    working = asyncio.ensure_future(counts_for_ever.function(None, Nothing()))  # type: ignore[arg-type]
    while not alive("counts_for_ever"):
        await asyncio.sleep(0)
    working.cancel()
    await until_gone("counts_for_ever")


def test_a_tool_that_is_loaded_late_is_one_for_all_threads() -> None:
    for _ in range(20):
        registry, ready = ToolRegistry(), threading.Barrier(8)

        def load(ready: threading.Barrier = ready) -> Tool:
            ready.wait(5)

            @tool(tool_id="late")
            def late(_context: ToolContext, _args: ToolArgs) -> ToolResult:
                """Do nothing."""
                return ToolResult({})

            return late

        registry.register_later("late", load)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(registry.get, ["late"] * 8))
        assert len({id(each) for each in found}) == 1
        assert registry.get("late") is found[0]

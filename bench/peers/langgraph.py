"""LangGraph with its SQLite savers, `durability="sync"`: a checkpoint per step before the next.

One node that loops: each superstep is a step. Tasks of the functional API are not used: their
results are stored in the background, so the next task may begin before the last one is durable.
"""

import asyncio
import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from bench.peers.contender import payload

SYSTEM = "LangGraph"
VERSION = f"LangGraph {version('langgraph')}"


class State(TypedDict):
    """What a run carries: as little as can be."""

    number: int
    last: int
    output: dict[str, str]


class LangGraphThreads:
    """`SqliteSaver`; runs at once are threads."""

    system = SYSTEM
    name = f"{VERSION}, SqliteSaver"
    durability = "sync"

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._graph: Any = None
        self._runs = 0

    async def open(self, folder: Path) -> None:
        saver = SqliteSaver.from_conn_string(str(folder / "langgraph.db"))
        self._graph = _loop(_act, self._stack.enter_context(saver))

    async def perform(self, runs: int, steps: int) -> None:
        configs = [_config(self._runs + number, steps) for number in range(runs)]
        self._runs += runs

        def one(config: dict[str, Any]) -> None:
            final = self._graph.invoke(_start(steps), config, durability=self.durability)
            assert final["number"] == steps

        with ThreadPoolExecutor(runs) as pool:
            await asyncio.to_thread(lambda: list(pool.map(one, configs)))

    async def close(self) -> None:
        self._stack.close()


class LangGraphAhead(LangGraphThreads):
    """The same with `durability="async"`: a step does not wait for the checkpoint before it."""

    system = f"{SYSTEM} async"
    name = f"{VERSION}, SqliteSaver, durability async"
    durability = "async"


class LangGraphAsync:
    """`AsyncSqliteSaver`; runs at once are tasks."""

    system = SYSTEM
    name = f"{VERSION}, AsyncSqliteSaver"

    def __init__(self) -> None:
        self._saver: Any = None
        self._graph: Any = None
        self._runs = 0

    async def open(self, folder: Path) -> None:
        self._saver = AsyncSqliteSaver.from_conn_string(str(folder / "langgraph.db"))
        self._graph = _loop(_act_async, await self._saver.__aenter__())

    async def perform(self, runs: int, steps: int) -> None:
        configs = [_config(self._runs + number, steps) for number in range(runs)]
        self._runs += runs
        finals = await asyncio.gather(
            *(self._graph.ainvoke(_start(steps), each, durability="sync") for each in configs)
        )
        assert all(final["number"] == steps for final in finals)

    async def close(self) -> None:
        await self._saver.__aexit__(None, None, None)


def grow(folder: Path, chunks: list[str], *, delta: bool) -> None:
    """Execute one run whose state is a list that each step appends a chunk to."""
    reducer: Any = operator.add
    if delta:
        from langgraph.channels.delta import DeltaChannel

        reducer = DeltaChannel(_extend)

    class Growing(TypedDict):
        parts: Annotated[list[str], reducer]
        number: int

    def add(state: Growing) -> dict[str, Any]:
        number = state["number"]
        return {"parts": [chunks[number]], "number": number + 1}

    def more(state: Growing) -> str:
        return "act" if state["number"] < len(chunks) else END

    with SqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        graph = _graph(Growing, add, more, saver)
        start = {"parts": [], "number": 0}
        final = graph.invoke(start, _config(0, len(chunks)), durability="sync")
        assert final["parts"] == chunks


def _extend(parts: list[str], writes: list[list[str]]) -> list[str]:
    return [*parts, *(part for write in writes for part in write)]


def _loop(act: Callable[[State], Any], saver: Any) -> Any:
    def more(state: State) -> str:
        return "act" if state["number"] < state["last"] else END

    return _graph(State, act, more, saver)


def _graph(state: type, act: Any, more: Any, saver: Any) -> Any:
    graph = StateGraph(state)
    graph.add_node("act", act)
    graph.add_edge(START, "act")
    graph.add_conditional_edges("act", more, ["act", END])
    return graph.compile(checkpointer=saver)


def _act(state: State) -> dict[str, Any]:
    return {"number": state["number"] + 1, "output": payload()}


async def _act_async(state: State) -> dict[str, Any]:
    return _act(state)


def _start(steps: int) -> dict[str, Any]:
    return {"number": 0, "last": steps, "output": {}}


def _config(run: int, steps: int) -> dict[str, Any]:
    return {"configurable": {"thread_id": f"run-{run}"}, "recursion_limit": steps + 10}

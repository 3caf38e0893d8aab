"""A DAG over a stage: a node starts when what it needs is done, and is skipped if that failed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput


class NodeState(StrEnum):
    """How a node ended."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Node:
    """One unit of a DAG: a function of its stage and of the results it comes after."""

    act: Callable[[Stage, dict[str, Any]], Awaitable[Any]]
    after: Sequence[str] = ()


@dataclass(slots=True)
class _Board:
    states: dict[str, NodeState] = field(default_factory=dict[str, NodeState])
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    reasons: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class DagOutcome:
    """What became of every node."""

    states: dict[str, NodeState]
    results: dict[str, Any]
    reasons: dict[str, str]

    def to_json(self) -> dict[str, Json]:
        """Return states and reasons as a run's result."""
        return {
            name: {"state": state.value, "reason": self.reasons.get(name, "")}
            for name, state in self.states.items()
        }


async def perform_dag(stage: Stage, nodes: Mapping[str, Node]) -> DagOutcome:
    """Execute nodes as early as their dependencies allow; each has its own branch of keys."""
    _check(nodes)
    board = _Board()
    finished = {name: asyncio.Event() for name in nodes}

    async def one(name: str, branch: Stage) -> None:
        node = nodes[name]
        for needed in node.after:
            await finished[needed].wait()
        try:
            lacking = [n for n in node.after if board.states.get(n) is not NodeState.DONE]
            if lacking:
                board.states[name] = NodeState.SKIPPED
                board.reasons[name] = f"needs {', '.join(lacking)}"
            else:
                given = {needed: board.results[needed] for needed in node.after}
                board.results[name] = await node.act(branch, given)
                board.states[name] = NodeState.DONE
        except CallboardError as error:
            board.states[name] = NodeState.FAILED
            board.reasons[name] = error.message
        finally:
            finished[name].set()

    await stage.parallel({name: lambda branch, n=name: one(n, branch) for name in nodes})
    ordered = {name: board.states[name] for name in nodes}
    return DagOutcome(ordered, board.results, board.reasons)


def _check(nodes: Mapping[str, Node]) -> None:
    for name, node in nodes.items():
        unknown = [needed for needed in node.after if needed not in nodes]
        if unknown:
            raise InvalidInput(
                f"Node {name!r} comes after {', '.join(unknown)}, which is not in the DAG",
                fix=f"Nodes: {', '.join(nodes)}.",
            )
    placed: set[str] = set()
    while len(placed) < len(nodes):
        waiting = {name: node for name, node in nodes.items() if name not in placed}
        ready = {name for name, node in waiting.items() if placed.issuperset(node.after)}
        if not ready:
            ring = ", ".join(sorted(waiting))
            raise InvalidInput(f"These nodes wait for each other: {ring}")
        placed |= ready

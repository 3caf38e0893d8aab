"""Walking the graph: ways between nodes, what lies around some, and how central each is."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from callboard.knowledge.graph.memory import GraphMemory
from callboard.knowledge.graph.values import Edge, Subgraph

DAMPING: Final = 0.85
_MAX_ROUNDS: Final = 200
# The whole error allowed, shared by all nodes: small enough that the order of ranks is settled.
_TOLERANCE: Final = 1e-7


def rank_all(memory: GraphMemory, seeds: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the rank of every node; with seeds, the rank as seen from them.

    Seeds nobody knows and weights of zero do not count; without any that do, nothing is favoured.
    """
    if not memory.ids:
        return {}
    import rustworkx

    rank: Any = rustworkx.pagerank  # pyright: ignore[reportUnknownMemberType]
    found: Any = rank(
        memory.network,
        alpha=DAMPING,
        # Asking each of the weights costs as much as all the rest.
        weight_fn=float if memory.is_weighted else None,
        personalization=_favoured(memory, seeds or {}),
        tol=_TOLERANCE / len(memory.ids),
        max_iter=_MAX_ROUNDS,
    )
    return {node_id: float(found[number]) for number, node_id in enumerate(memory.ids)}


def in_order(ranks: Mapping[str, float]) -> list[str]:
    """Return ids by rank, the highest first; equal ranks by id."""
    return sorted(ranks, key=lambda node_id: (-ranks[node_id], node_id))


def _favoured(memory: GraphMemory, seeds: Mapping[str, float]) -> dict[int, float] | None:
    favoured = {
        memory.numbers[node_id]: weight
        for node_id, weight in sorted(seeds.items())
        if node_id in memory.numbers and weight > 0
    }
    return favoured or None


def shortest_path(memory: GraphMemory, start: str, end: str) -> list[str] | None:
    """Return the ids along a shortest way, both ends included, or None if there is no way.

    Of several equally short ways it is always the same one: the first by id at every step.
    """
    if start not in memory.numbers or end not in memory.numbers:
        return None
    here, there = memory.numbers[start], memory.numbers[end]
    away = _distances(memory, there, stop=here)
    if here not in away:
        return None
    way = [here]
    while way[-1] != there:
        left = away[way[-1]] - 1
        way.append(next(each for each in memory.neighbours[way[-1]] if away.get(each) == left))
    return [memory.ids[number] for number in way]


def within_hops(memory: GraphMemory, seeds: Iterable[str], hops: int) -> dict[str, int]:
    """Return every node at most so many hops from a seed, with how many; seeds are at 0."""
    reached = {memory.numbers[each]: 0 for each in seeds if each in memory.numbers}
    border = list(reached)
    for hop in range(1, hops + 1):
        following: list[int] = []
        for number in border:
            for beside in memory.neighbours[number]:
                if beside not in reached:
                    reached[beside] = hop
                    following.append(beside)
        border = following
    return {memory.ids[number]: hop for number, hop in reached.items()}


def extract(
    memory: GraphMemory,
    seeds: Iterable[str],
    hops: int,
    cap: int,
    always: Iterable[str],
) -> Subgraph:
    """Return what lies around the seeds: seeds, then what is always wanted, then by rank."""
    wanted = dict.fromkeys(seeds)
    first = [each for each in wanted if each in memory.nodes]
    second = {each for each in always if each in memory.nodes}.difference(first)
    around = set(within_hops(memory, first, hops)).difference(first, second)
    ranks = rank_all(memory, dict.fromkeys(first, 1.0))
    order = [each for group in (first, second, around) for each in _ranked(group, ranks)]
    kept = order[: max(cap, 0)]
    return Subgraph(
        nodes=tuple(memory.nodes[each] for each in kept),
        edges=edges_among(memory, set(kept)),
        ranks={each: ranks[each] for each in kept},
        missing=tuple(each for each in wanted if each not in memory.nodes),
    )


def edges_among(memory: GraphMemory, ids: Collection[str]) -> tuple[Edge, ...]:
    """Return the edges with both ends among the ids, in order."""
    return tuple(
        edge
        for source in sorted(ids)
        for edge in memory.by_source.get(source, ())
        if not edge.dst_domain and edge.dst in ids
    )


def _ranked(ids: Iterable[str], ranks: dict[str, float]) -> list[str]:
    return in_order({each: ranks[each] for each in ids})


def _distances(memory: GraphMemory, start: int, stop: int) -> dict[int, int]:
    """Return how far nodes are from one, nearest first, no farther than the node to stop at."""
    away = {start: 0}
    border = [start]
    while border and stop not in away:
        following: list[int] = []
        for number in border:
            hop = away[number] + 1
            for beside in memory.neighbours[number]:
                if beside not in away:
                    away[beside] = hop
                    following.append(beside)
        border = following
    return away

"""How central nodes are: PageRank, of all of them or as seen from some."""

from collections.abc import Mapping
from typing import Any, Final

from callboard.knowledge.graph.memory import Memory

DAMPING: Final = 0.85
_MAX_ROUNDS: Final = 200
# The whole error allowed, shared by all nodes: small enough that the order of ranks is settled.
_TOLERANCE: Final = 1e-7


def rank_all(memory: Memory, seeds: Mapping[str, float] | None = None) -> dict[str, float]:
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


def _favoured(memory: Memory, seeds: Mapping[str, float]) -> dict[int, float] | None:
    favoured = {
        memory.numbers[node_id]: weight
        for node_id, weight in sorted(seeds.items())
        if node_id in memory.numbers and weight > 0
    }
    return favoured or None

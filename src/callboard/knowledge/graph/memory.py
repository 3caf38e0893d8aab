"""A domain's graph in memory: a read cache of one version, and its readable copy as JSON.

Edges are walked both ways: that a knows b is a way from b to a, too. Edges into other domains are
kept and listed but not walked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.words import folded_name
from callboard.knowledge.graph import rows
from callboard.knowledge.graph.values import Edge, Node
from callboard.knowledge.rows import KnowledgePart, KnowledgeVersion, read_version
from callboard.store.connection import Connection

EdgeKey = tuple[str, str, str, str]


@dataclass(frozen=True)
class GraphMemory:
    """Every node and edge of a domain at one version."""

    version: KnowledgeVersion
    nodes: Mapping[str, Node]
    edges: Mapping[EdgeKey, Edge]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids in order; their positions are the node numbers of `network`."""
        return tuple(sorted(self.nodes))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The node number of each id."""
        return {node_id: number for number, node_id in enumerate(self.ids)}

    @cached_property
    def ordered_edges(self) -> tuple[Edge, ...]:
        """The edges in the order of their keys."""
        return tuple(edge for _key, edge in sorted(self.edges.items()))

    @cached_property
    def network(self) -> Any:
        """The rustworkx graph: both directions of every edge, weighted."""
        import rustworkx

        numbers = self.numbers
        network: Any = rustworkx.PyDiGraph(multigraph=True)
        network.add_nodes_from(range(len(self.ids)))
        inner = sorted(
            (numbers[edge.src], numbers[edge.dst], edge.weight)
            for edge in self.edges.values()
            if not edge.dst_domain and edge.src != edge.dst
        )
        network.add_edges_from(inner)
        network.add_edges_from([(there, here, weight) for here, there, weight in inner])
        return network

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any edge weighs something else than 1."""
        return any(edge.weight != 1 for edge in self.edges.values())

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the nodes beside each node, in order."""
        beside: list[set[int]] = [set() for _ in self.ids]
        numbers = self.numbers
        for edge in self.edges.values():
            if not edge.dst_domain and edge.src != edge.dst:
                here, there = numbers[edge.src], numbers[edge.dst]
                beside[here].add(there)
                beside[there].add(here)
        return tuple(tuple(sorted(each)) for each in beside)

    @cached_property
    def by_source(self) -> dict[str, list[Edge]]:
        """The edges that start at a node, in order."""
        return _grouped((edge.src, edge) for edge in self.ordered_edges)

    @cached_property
    def by_target(self) -> dict[str, list[Edge]]:
        """The edges of this domain that end at a node, in order."""
        return _grouped((edge.dst, edge) for edge in self.ordered_edges if not edge.dst_domain)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The ids that answer to a name; those it is the real name of come first."""
        found: dict[str, list[tuple[bool, str]]] = {}
        for node in self.nodes.values():
            for name in node.answers_to():
                found.setdefault(folded_name(name), []).append((name is not node.name, node.id))
        return {key: [node_id for _, node_id in sorted(each)] for key, each in found.items()}


def load_memory(connection: Connection, domain: str, known: GraphMemory | None) -> GraphMemory:
    """Return the graph as it is now, reading only what changed since it was last known."""
    version = read_version(connection, KnowledgePart.GRAPH, domain)
    if known is not None and known.version == version:
        return known
    # What was removed leaves no row to read, so a cache from before that starts afresh.
    base = known if known is not None and known.version.number >= version.removed else None
    after = base.version.number if base else -1
    nodes: dict[str, Node] = dict(base.nodes) if base else {}
    edges: dict[EdgeKey, Edge] = dict(base.edges) if base else {}
    nodes.update((node.id, node) for node in rows.load_changed_nodes(connection, domain, after))
    edges.update((edge.key, edge) for edge in rows.load_changed_edges(connection, domain, after))
    return GraphMemory(version, nodes, edges)


def _grouped(pairs: Iterable[tuple[str, Edge]]) -> dict[str, list[Edge]]:
    groups: dict[str, list[Edge]] = {}
    for key, edge in pairs:
        groups.setdefault(key, []).append(edge)
    return groups


SHAPE: Final = 1


def export_graph(domain: str, memory: GraphMemory) -> Json:
    """Return a domain's graph, ordered, so that the same graph is the same text."""
    return {
        "shape": SHAPE,
        "domain": domain,
        "version": memory.version.number,
        "nodes": [node_json(memory.nodes[each]) for each in memory.ids],
        "edges": [edge_json(each) for each in memory.ordered_edges],
    }


def node_json(node: Node) -> dict[str, Json]:
    """Return a node as JSON."""
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "aliases": list(node.aliases),
        "attrs": dict(node.attrs),
        "source": node.source,
        "trust": int(node.trust),
        "first_seen": node.first_seen,
        "updated_at": node.updated_at,
        "content": node.content,
    }


def edge_json(edge: Edge) -> dict[str, Json]:
    """Return an edge as JSON; the target's domain only where it is another one."""
    told: dict[str, Json] = {
        "src": edge.src,
        "dst": edge.dst,
        "type": edge.type,
        "attrs": dict(edge.attrs),
        "source": edge.source,
        "weight": edge.weight,
    }
    return told | ({"dst_domain": edge.dst_domain} if edge.dst_domain else {})

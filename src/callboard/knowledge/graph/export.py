"""The graph as JSON: a readable copy, never read back as the truth."""

from typing import Final

from callboard.core.canonical import Json
from callboard.knowledge.graph.memory import Memory
from callboard.knowledge.graph.values import Edge, Node

SHAPE: Final = 1


def export_graph(domain: str, memory: Memory) -> Json:
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

"""Taking nodes and edges out of a domain, with everything that hangs on them."""

from collections.abc import Iterable

from callboard.knowledge.graph import rows
from callboard.knowledge.graph.values import Edge
from callboard.knowledge.versions import Part, next_version
from callboard.store.connection import Connection


def remove_nodes(connection: Connection, domain: str, ids: Iterable[str]) -> int:
    """Remove nodes; their edges, vectors, history and provenance go with them."""
    there = sorted(rows.existing_ids(connection, domain, ids))
    if not there:
        return 0
    # Edges that start elsewhere vanish too, so the caches of those domains are old as well.
    touched = {where for where, _edge in rows.load_edges_into(connection, domain, there)}
    connection.executemany(
        "DELETE FROM knowledge_nodes WHERE domain = ? AND id = ?",
        [(domain, node_id) for node_id in there],
    )
    for each in sorted(touched | {domain}):
        next_version(connection, Part.GRAPH, each, has_removed=True)
    return len(there)


def remove_edges(connection: Connection, domain: str, edges: Iterable[Edge]) -> int:
    """Remove single edges; their nodes stay."""
    removed = sum(
        connection.execute(
            "DELETE FROM knowledge_edges WHERE domain = ? AND src = ? AND dst_domain = ?"
            " AND dst = ? AND type = ?",
            (domain, edge.src, edge.dst_domain or domain, edge.dst, edge.type),
        ).rowcount
        for edge in edges
    )
    if removed:
        next_version(connection, Part.GRAPH, domain, has_removed=True)
    return removed

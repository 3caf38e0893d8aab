"""Nodes and edges as rows. Reads and writes them; decides nothing."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from callboard.core.canonical import canonical_json, digest_bytes
from callboard.knowledge.graph.values import AttrChange, Edge, Node, NodeProvenance
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode

_AT_ONCE: Final = 400


def load_nodes(connection: Connection, domain: str, ids: Iterable[str]) -> dict[str, Node]:
    """Return those of the named nodes that are there."""
    found: dict[str, Node] = {}
    for part in _parts(sorted(set(ids))):
        marks = ", ".join("?" for _ in part)
        rows: Any = connection.execute(
            f"SELECT * FROM knowledge_nodes WHERE domain = ? AND id IN ({marks})",  # noqa: S608 - only marks
            (domain, *part),
        )
        found.update((row["id"], node_of(row)) for row in rows)
    return found


def existing_ids(connection: Connection, domain: str, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that name a node."""
    found: set[str] = set()
    for part in _parts(sorted(set(ids))):
        marks = ", ".join("?" for _ in part)
        rows: Any = connection.execute(
            f"SELECT id FROM knowledge_nodes WHERE domain = ? AND id IN ({marks})",  # noqa: S608 - only marks
            (domain, *part),
        )
        found.update(str(row["id"]) for row in rows)
    return found


def load_content_hashes(connection: Connection, domain: str, ids: Iterable[str]) -> dict[str, str]:
    """Return the hash of what each of the named nodes is searched by, if it has content."""
    found: dict[str, str] = {}
    for part in _parts(sorted(set(ids))):
        marks = ", ".join("?" for _ in part)
        rows: Any = connection.execute(
            "SELECT id, content_hash FROM knowledge_nodes WHERE domain = ? AND content_hash <> ''"  # noqa: S608 - only marks
            f" AND id IN ({marks})",
            (domain, *part),
        )
        found.update((row["id"], row["content_hash"]) for row in rows)
    return found


def load_changed_nodes(connection: Connection, domain: str, after: int) -> list[Node]:
    """Return the nodes written after a version, all of them after version -1."""
    rows: Any = connection.execute(
        "SELECT * FROM knowledge_nodes WHERE domain = :domain AND version > :after",
        {"domain": domain, "after": after},
    )
    return [node_of(row) for row in rows]


def load_changed_edges(connection: Connection, domain: str, after: int) -> list[Edge]:
    """Return the edges written after a version, all of them after version -1."""
    rows: Any = connection.execute(
        "SELECT * FROM knowledge_edges WHERE domain = :domain AND version > :after",
        {"domain": domain, "after": after},
    )
    return [edge_of(row) for row in rows]


def load_edges_from(
    connection: Connection, domain: str, sources: Iterable[str]
) -> dict[tuple[str, str, str, str], Edge]:
    """Return the edges that start at the named nodes, by key."""
    found: dict[tuple[str, str, str, str], Edge] = {}
    for part in _parts(sorted(set(sources))):
        marks = ", ".join("?" for _ in part)
        rows: Any = connection.execute(
            f"SELECT * FROM knowledge_edges WHERE domain = ? AND src IN ({marks})",  # noqa: S608 - only marks
            (domain, *part),
        )
        for row in rows:
            edge = edge_of(row)
            found[edge.key] = edge
    return found


def load_edges_into(
    connection: Connection, domain: str, targets: Iterable[str]
) -> list[tuple[str, Edge]]:
    """Return the edges of other domains that end at the named nodes, with the domain of each."""
    found: list[tuple[str, Edge]] = []
    for part in _parts(sorted(set(targets))):
        marks = ", ".join("?" for _ in part)
        rows: Any = connection.execute(
            f"SELECT * FROM knowledge_edges WHERE dst_domain = ? AND dst IN ({marks})"  # noqa: S608 - only marks
            " AND domain <> dst_domain ORDER BY domain, src, dst, type",
            (domain, *part),
        )
        found += [(str(row["domain"]), edge_of(row)) for row in rows]
    return found


def store_nodes(
    connection: Connection, domain: str, nodes: Iterable[Node], now: int, version: int
) -> None:
    """Write nodes whole."""
    connection.executemany(
        "INSERT INTO knowledge_nodes (domain, id, type, name, aliases, attrs, content,"
        " content_hash, source, trust, first_seen, created_at, updated_at, version)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (domain, id) DO UPDATE SET name = excluded.name, aliases = excluded.aliases,"
        " attrs = excluded.attrs, content = excluded.content,"
        " content_hash = excluded.content_hash, source = excluded.source, trust = excluded.trust,"
        " first_seen = excluded.first_seen, updated_at = excluded.updated_at,"
        " version = excluded.version",
        [
            (
                domain,
                node.id,
                node.type,
                node.name,
                canonical_json(list(node.aliases)),
                canonical_json(dict(node.attrs)),
                node.content,
                content_hash(node),
                node.source,
                int(node.trust),
                node.first_seen,
                now,
                node.updated_at,
                version,
            )
            for node in nodes
        ],
    )


def store_edges(
    connection: Connection, domain: str, edges: Iterable[Edge], now: int, version: int
) -> None:
    """Write edges whole."""
    connection.executemany(
        "INSERT INTO knowledge_edges (domain, src, dst_domain, dst, type, attrs, source, weight,"
        " created_at, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (domain, src, dst_domain, dst, type) DO UPDATE SET attrs = excluded.attrs,"
        " source = excluded.source, weight = excluded.weight, updated_at = excluded.updated_at,"
        " version = excluded.version",
        [
            (
                domain,
                edge.src,
                edge.dst_domain or domain,
                edge.dst,
                edge.type,
                canonical_json(dict(edge.attrs)),
                edge.source,
                edge.weight,
                now,
                now,
                version,
            )
            for edge in edges
        ],
    )


def store_changes(
    connection: Connection, domain: str, changes: Iterable[tuple[str, AttrChange]]
) -> None:
    """Keep what attributes were, by node."""
    connection.executemany(
        "INSERT INTO knowledge_attr_history (domain, node_id, attr, old, new, source, at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                domain,
                node_id,
                change.attr,
                None if change.old is None else canonical_json(change.old),
                None if change.new is None else canonical_json(change.new),
                change.source,
                change.at,
            )
            for node_id, change in changes
        ],
    )


def load_changes(connection: Connection, domain: str, node_id: str) -> tuple[AttrChange, ...]:
    """Return what the attributes of a node were, oldest change first."""
    rows: Any = connection.execute(
        "SELECT attr, old, new, source, at FROM knowledge_attr_history"
        " WHERE domain = :domain AND node_id = :node_id ORDER BY id",
        {"domain": domain, "node_id": node_id},
    )
    return tuple(
        AttrChange(row["attr"], decode(row["old"]), decode(row["new"]), row["source"], row["at"])
        for row in rows
    )


def store_provenance(connection: Connection, domain: str, nodes: Iterable[Node], now: int) -> None:
    """Keep who says something about a node; the first time counts."""
    connection.executemany(
        "INSERT INTO knowledge_provenance (domain, node_id, source, trust, at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (domain, node_id, source) DO NOTHING",
        [(domain, node.id, node.source, int(node.trust), now) for node in nodes if node.source],
    )


def load_provenance(
    connection: Connection, domain: str, node_id: str
) -> tuple[NodeProvenance, ...]:
    """Return who said something about a node, the first one first."""
    rows: Any = connection.execute(
        "SELECT source, trust, at FROM knowledge_provenance"
        " WHERE domain = :domain AND node_id = :node_id ORDER BY at, source",
        {"domain": domain, "node_id": node_id},
    )
    return tuple(NodeProvenance(row["source"], row["trust"], row["at"]) for row in rows)


def content_hash(node: Node) -> str:
    """Return the hash of what a node is searched by; empty without content."""
    if not node.content:
        return ""
    return digest_bytes(searchable_text(node).encode("utf-8", "replace"))


def searchable_text(node: Node) -> str:
    """Return the text a node's vector is made of."""
    return f"{node.name} {node.content}"


def node_of(row: Any) -> Node:
    """Read a node."""
    return Node(
        id=row["id"],
        type=row["type"],
        name=row["name"],
        aliases=tuple(decode(row["aliases"])),
        attrs=decode(row["attrs"]),
        source=row["source"],
        trust=row["trust"],
        first_seen=row["first_seen"],
        updated_at=row["updated_at"],
        content=row["content"],
    )


def edge_of(row: Any) -> Edge:
    """Read an edge; its target's domain is named only if it is another one."""
    return Edge(
        src=row["src"],
        dst=row["dst"],
        type=row["type"],
        attrs=decode(row["attrs"]),
        source=row["source"],
        weight=row["weight"],
        dst_domain="" if row["dst_domain"] == row["domain"] else row["dst_domain"],
    )


def _parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]

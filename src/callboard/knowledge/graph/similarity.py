"""The vectors of nodes: made before a write, stored with their model, searched by meaning."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from callboard.knowledge.graph.rows import content_hash, load_content_hashes, searchable_text
from callboard.knowledge.graph.values import Node
from callboard.knowledge.vectors import Space, embed_texts, stack
from callboard.store.connection import Connection

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Embedder

Vectors = Mapping[str, bytes]
"""Stored vectors by the hash of the text they were made of."""


def make_vectors(embedder: "Embedder", nodes: Iterable[Node]) -> Vectors:
    """Return the vectors of those nodes that have content."""
    texts = {content_hash(node): searchable_text(node) for node in nodes if node.content}
    return dict(zip(texts, embed_texts(embedder, list(texts.values())), strict=True))


def store_vectors(
    connection: Connection, domain: str, model: str, ids: Iterable[str], vectors: Vectors
) -> None:
    """Keep the vectors of the named nodes; one that fits the text no longer is dropped."""
    hashes = load_content_hashes(connection, domain, ids)
    connection.executemany(
        "DELETE FROM knowledge_vectors WHERE domain = ? AND node_id = ? AND text_hash <> ?",
        [(domain, node_id, text_hash) for node_id, text_hash in hashes.items()],
    )
    connection.executemany(
        "INSERT INTO knowledge_vectors (domain, node_id, model, text_hash, embedding)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (domain, node_id) DO UPDATE SET"
        " model = excluded.model, text_hash = excluded.text_hash, embedding = excluded.embedding",
        [
            (domain, node_id, model, text_hash, vectors[text_hash])
            for node_id, text_hash in hashes.items()
            if text_hash in vectors
        ],
    )


def load_space(connection: Connection, domain: str, embedder: "Embedder") -> Space[str]:
    """Return the vectors of a domain's nodes, in the order of their ids."""
    rows: list[Any] = connection.execute(
        "SELECT node_id, embedding FROM knowledge_vectors"
        " WHERE domain = :domain AND model = :model ORDER BY node_id",
        {"domain": domain, "model": embedder.name},
    ).fetchall()
    matrix = stack([row["embedding"] for row in rows], embedder.dimensions)
    return Space([str(row["node_id"]) for row in rows], matrix)


def load_pending(connection: Connection, domain: str, model: str) -> list[str]:
    """Return the nodes whose content has no vector of this model yet."""
    rows: Any = connection.execute(
        "SELECT n.id FROM knowledge_nodes n LEFT JOIN knowledge_vectors v"
        " ON v.domain = n.domain AND v.node_id = n.id AND v.model = :model"
        " AND v.text_hash = n.content_hash"
        " WHERE n.domain = :domain AND n.content_hash <> '' AND v.node_id IS NULL ORDER BY n.id",
        {"domain": domain, "model": model},
    )
    return [str(row["id"]) for row in rows]

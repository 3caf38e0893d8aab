"""The vectors of nodes: made before a write, stored with their model, searched by meaning."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from callboard.core.errors import NotFound
from callboard.knowledge.graph.memory import GraphMemory
from callboard.knowledge.graph.rows import content_hash, load_content_hashes, searchable_text
from callboard.knowledge.graph.values import Node
from callboard.knowledge.rows import KnowledgePart, read_version
from callboard.knowledge.vector_index import Indexing, Searchable, VectorSpaces
from callboard.knowledge.vectors import Space, embed_texts, stack
from callboard.store.connection import Connection
from callboard.store.database import Database

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Embedder, Matrix

Vectors = Mapping[str, bytes]
"""Stored vectors by the hash of the text they were made of."""


class NodeSearch:
    """Finds the nodes of one domain by meaning; `memory` gives the graph of the present version."""

    def __init__(
        self,
        database: Database,
        domain: str,
        embedder: "Embedder",
        memory: Callable[[], GraphMemory],
        indexing: Indexing,
    ) -> None:
        """Read nothing yet."""
        self._database = database
        self._domain = domain
        self._embedder = embedder
        self._memory = memory
        self._shelf: VectorSpaces[str] = VectorSpaces(KnowledgePart.GRAPH.value, indexing)

    def like_text(
        self, query: str, k: int, types: Collection[str] | None
    ) -> list[tuple[Node, float]]:
        """Return the k nodes nearest to a text."""
        stored = embed_texts(self._embedder, [query])
        return self._nearest(stack(stored, self._embedder.dimensions)[0], k, types)

    def like_node(
        self, node_id: str, k: int, types: Collection[str] | None
    ) -> list[tuple[Node, float]]:
        """Return the k nodes nearest to a node, without itself."""
        space = self._searchable().space
        if node_id not in space.members:
            raise NotFound(
                f"The node {node_id!r} has no vector.",
                fix="Give it content, or let Graph.catch_up make the vectors that are missing.",
                id=node_id,
            )
        vector = space.matrix[space.members.index(node_id)]
        found = self._nearest(vector, k + 1, types)
        return [(node, score) for node, score in found if node.id != node_id][:k]

    def update_index(self) -> None:
        """Bring the index of a large domain up to date; a small one needs none."""
        approximate = self._searchable().approximate
        if approximate is not None:
            approximate.update()

    def _nearest(
        self, vector: "Matrix", k: int, types: Collection[str] | None
    ) -> list[tuple[Node, float]]:
        # One snapshot for both: what has a vector is there.
        space, memory = self._database.read(lambda _: (self._searchable(), self._memory()))
        nodes = memory.nodes

        def has_type(each: str) -> bool:
            return types is None or nodes[each].type in types

        found = space.nearest(vector, k, None if types is None else has_type)
        return [(nodes[each], score) for each, score in found]

    def _searchable(self) -> Searchable[str]:
        def look(connection: Connection) -> Searchable[str]:
            version = read_version(connection, KnowledgePart.GRAPH, self._domain).number
            return self._shelf.get(
                self._domain, version, lambda: load_space(connection, self._domain, self._embedder)
            )

        return self._database.read(look)


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

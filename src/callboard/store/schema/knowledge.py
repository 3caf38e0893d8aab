"""The tables of what a project knows: graph, facts, library, and the vectors of each.

A domain partitions the graph and the facts, a collection partitions the library. Vectors are
little-endian float32; whatever is computed from these rows (indexes, graphs in memory) is a cache.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)

from callboard.store.schema.metadata import metadata

knowledge_versions: Final = Table(
    "knowledge_versions",
    metadata,
    Column("part", Text, primary_key=True),
    Column("partition", Text, primary_key=True),
    Column("version", BigInteger, nullable=False),
    # The version at which something was last removed: a cache older than that starts afresh.
    Column("removed_version", BigInteger, nullable=False),
)

knowledge_types: Final = Table(
    "knowledge_types",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
)

knowledge_nodes: Final = Table(
    "knowledge_nodes",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("aliases", Text, nullable=False),
    Column("attrs", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("trust", Integer, nullable=False),
    Column("first_seen", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Index("knowledge_nodes_by_type", "domain", "type"),
    Index("knowledge_nodes_by_version", "domain", "version"),
    Index("knowledge_nodes_by_hash", "domain", "content_hash"),
)

knowledge_edges: Final = Table(
    "knowledge_edges",
    metadata,
    # The domain is that of the node the edge starts from; it may end in another one.
    Column("domain", Text, primary_key=True),
    Column("src", Text, primary_key=True),
    Column("dst_domain", Text, primary_key=True),
    Column("dst", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    Column("attrs", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("weight", Float, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["domain", "src"], ["knowledge_nodes.domain", "knowledge_nodes.id"], ondelete="CASCADE"
    ),
    ForeignKeyConstraint(
        ["dst_domain", "dst"], ["knowledge_nodes.domain", "knowledge_nodes.id"], ondelete="CASCADE"
    ),
    Index("knowledge_edges_by_target", "dst_domain", "dst", "type"),
    Index("knowledge_edges_by_version", "domain", "version"),
)

knowledge_attr_history: Final = Table(
    "knowledge_attr_history",
    metadata,
    Column(
        "id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("domain", Text, nullable=False),
    Column("node_id", Text, nullable=False),
    Column("attr", Text, nullable=False),
    Column("old", Text),
    Column("new", Text),
    Column("source", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["domain", "node_id"], ["knowledge_nodes.domain", "knowledge_nodes.id"], ondelete="CASCADE"
    ),
    Index("knowledge_attr_history_by_node", "domain", "node_id", "id"),
)

knowledge_provenance: Final = Table(
    "knowledge_provenance",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("node_id", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("trust", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["domain", "node_id"], ["knowledge_nodes.domain", "knowledge_nodes.id"], ondelete="CASCADE"
    ),
)

knowledge_vectors: Final = Table(
    "knowledge_vectors",
    metadata,
    Column("domain", Text, primary_key=True),
    Column("node_id", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("embedding", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["domain", "node_id"], ["knowledge_nodes.domain", "knowledge_nodes.id"], ondelete="CASCADE"
    ),
)

knowledge_facts: Final = Table(
    "knowledge_facts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("domain", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("superseded_by", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # Grows with every save, so that newest first is certain even within one millisecond.
    Column("said", BigInteger, nullable=False),
    # Grows with every change, also of the state alone.
    Column("version", BigInteger, nullable=False),
    Index("knowledge_facts_by_key", "domain", "category", "key", unique=True),
    Index("knowledge_facts_newest", "domain", "category", "said"),
    Index("knowledge_facts_by_state", "domain", "state", "said"),
    Index("knowledge_facts_by_version", "domain", "version"),
)

knowledge_fact_history: Final = Table(
    "knowledge_fact_history",
    metadata,
    Column(
        "id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("fact_id", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("until", BigInteger, nullable=False),
    ForeignKeyConstraint(["fact_id"], ["knowledge_facts.id"], ondelete="CASCADE"),
    Index("knowledge_fact_history_by_fact", "fact_id", "id"),
)

library_documents: Final = Table(
    "library_documents",
    metadata,
    Column("collection", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    # How the text was cut and which model made the vectors: another way means doing it again.
    Column("method", Text, nullable=False),
    Column("characters", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

library_passages: Final = Table(
    "library_passages",
    metadata,
    Column(
        "id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    ),
    Column("collection", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("line_start", BigInteger, nullable=False),
    Column("line_end", BigInteger, nullable=False),
    Column("embedding", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["collection", "path"],
        ["library_documents.collection", "library_documents.path"],
        ondelete="CASCADE",
    ),
    Index("library_passages_by_document", "collection", "path", "position", unique=True),
    # The number of a passage that is gone is never given to another.
    sqlite_autoincrement=True,
)

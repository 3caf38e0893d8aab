"""What a project knows: the graph of hard facts, the soft facts, the library of documents."""

from callboard.knowledge.embedding import Embedder, OfflineEmbedder
from callboard.knowledge.errors import (
    DimensionsDiffer,
    EmbeddingFailed,
    TypeChanged,
    UnknownNode,
    UnknownType,
)
from callboard.knowledge.fact_rows import FactRevision, FactState, KBEntry
from callboard.knowledge.facts import SoftFacts
from callboard.knowledge.graph import (
    AttrChange,
    Edge,
    Graph,
    GraphVocabulary,
    MergeReport,
    Node,
    NodeProvenance,
    Subgraph,
    TrustLevel,
    node_id,
    slug,
)
from callboard.knowledge.knowledge import Knowledge
from callboard.knowledge.library import (
    DocumentInfo,
    Library,
    Passage,
    PutReport,
    SearchMode,
    SourceText,
)
from callboard.knowledge.vector_index import Indexing

__all__ = [
    "AttrChange",
    "DimensionsDiffer",
    "DocumentInfo",
    "Edge",
    "Embedder",
    "EmbeddingFailed",
    "FactRevision",
    "FactState",
    "Graph",
    "GraphVocabulary",
    "Indexing",
    "KBEntry",
    "Knowledge",
    "Library",
    "MergeReport",
    "Node",
    "NodeProvenance",
    "OfflineEmbedder",
    "Passage",
    "PutReport",
    "SearchMode",
    "SoftFacts",
    "SourceText",
    "Subgraph",
    "TrustLevel",
    "TypeChanged",
    "UnknownNode",
    "UnknownType",
    "node_id",
    "slug",
]

"""The graph of what is known for certain: typed nodes and edges, by domain."""

from callboard.knowledge.graph.graph import Graph
from callboard.knowledge.graph.values import (
    AttrChange,
    Edge,
    GraphVocabulary,
    MergeReport,
    Node,
    NodeProvenance,
    Subgraph,
    TrustLevel,
    node_id,
    slug,
)

__all__ = [
    "AttrChange",
    "Edge",
    "Graph",
    "GraphVocabulary",
    "MergeReport",
    "Node",
    "NodeProvenance",
    "Subgraph",
    "TrustLevel",
    "node_id",
    "slug",
]

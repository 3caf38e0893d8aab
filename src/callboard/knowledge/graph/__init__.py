"""The graph of what is known for certain: typed nodes and edges, by domain."""

from callboard.knowledge.graph.graph import Graph
from callboard.knowledge.graph.values import (
    AttrChange,
    Edge,
    MergeReport,
    Node,
    Provenance,
    Subgraph,
    Trust,
    Vocabulary,
    name_key,
    node_id,
    slug,
)

__all__ = [
    "AttrChange",
    "Edge",
    "Graph",
    "MergeReport",
    "Node",
    "Provenance",
    "Subgraph",
    "Trust",
    "Vocabulary",
    "name_key",
    "node_id",
    "slug",
]

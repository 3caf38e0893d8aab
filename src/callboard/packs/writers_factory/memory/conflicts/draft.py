"""Draft: the graph as it would be after what was accepted so far. Judges and stores nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.knowledge.graph import Edge, Node, TrustLevel
from callboard.packs.writers_factory.memory.claims import (
    AnyClaim,
    Claim,
    EdgeClaim,
    Names,
    SceneRange,
    State,
    find_point,
    with_state,
    without_overlaps,
)

TEXT: Final = "text"
"""The attribute that is what a node says as a whole, such as the wording of a rule."""

EdgeKey = tuple[str, str, str]
EdgesFrom = Callable[[str], Iterable[Edge]]
"""Returns the relations that start at a node."""


@dataclass
class Draft:
    """What is known, with changes laid over it; only these are handed on."""

    known: Mapping[str, Node]
    edges_from: EdgesFrom
    names: Names
    trust: int = TrustLevel.DEFAULT
    changed_nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    changed_edges: dict[EdgeKey, Edge] = field(default_factory=dict[EdgeKey, Edge])

    def node(self, node_id: str) -> Node | None:
        """Return a node as it would be."""
        return self.changed_nodes.get(node_id) or self.known.get(node_id)

    def edge(self, src: str, dst: str, edge_type: str) -> Edge | None:
        """Return a relation as it would be."""
        key = (src, dst, edge_type)
        return next((edge for edge in self.edges(src) if _key(edge) == key), None)

    def edges(self, src: str) -> list[Edge]:
        """Return the relations that would start at a node."""
        found = {_key(edge): edge for edge in self.edges_from(src)}
        found.update({key: edge for key, edge in self.changed_edges.items() if key[0] == src})
        return list(found.values())

    def apply(self, claim: AnyClaim, *, is_replacing: bool = False) -> None:
        """Accept a claim, in place of all that holds in its scenes if it `is_replacing`."""
        if isinstance(claim, EdgeClaim):
            self._apply_edge(claim)
        else:
            self._apply_node(claim, is_replacing=is_replacing)

    def _apply_node(self, claim: Claim, *, is_replacing: bool) -> None:
        old = self.node(claim.node_id)
        base = old or Node(claim.node_id, claim.type, claim.name, trust=self.trust)
        attrs: dict[str, Json] = dict(base.attrs)
        if claim.attribute:
            state = State(claim.value, claim.scope, claim.source)
            place = without_overlaps if is_replacing else with_state
            attrs = place(attrs, claim.attribute, state)
        aliases = dict.fromkeys((*base.aliases, *claim.aliases))
        aliases.pop(base.name, None)
        since = claim.scope.since
        changed = replace(
            base,
            attrs=attrs,
            aliases=tuple(aliases),
            source=claim.source or base.source,
            content=str(claim.value) if claim.attribute == TEXT else base.content,
            first_seen=base.first_seen or (str(since) if since is not None else None),
        )
        if old is not None and replace(changed, source=old.source) == old:
            return
        self.changed_nodes[claim.node_id] = changed
        self.names.add(changed.id, changed.type, changed.answers_to())

    def _apply_edge(self, claim: EdgeClaim) -> None:
        old = self.edge(claim.src, claim.dst, claim.type)
        attrs = {**({} if old is None else old.attrs), **claim.attrs, **claim.scope.to_json()}
        if old is not None and dict(old.attrs) == attrs:
            return
        source = claim.source or ("" if old is None else old.source)
        edge = Edge(claim.src, claim.dst, claim.type, attrs, source)
        self.changed_edges[_key(edge)] = edge


def scope_of(edge: Edge) -> SceneRange:
    """Return when a relation holds; to be in a scene is to be there in that scene alone."""
    found = SceneRange.from_json(dict(edge.attrs))
    kind, _, slug = edge.dst.partition(":")
    if found.since is None and kind == "scene" and (point := find_point(slug)) is not None:
        return SceneRange(point, point)
    return found


def _key(edge: Edge) -> EdgeKey:
    return edge.src, edge.dst, edge.type

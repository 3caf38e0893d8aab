"""Detection: whether a claim contradicts what the graph knows. Deterministic; changes nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from callboard.core.canonical import Json
from callboard.knowledge.graph import Edge, Node, TrustLevel
from callboard.library.story.contradiction.claim import AnyClaim, EdgeClaim, GraphClaim, Names
from callboard.library.story.contradiction.rules import ConflictRules
from callboard.library.story.contradiction.scope import (
    SceneRange,
    ScopedValue,
    find_point,
    states_of,
    with_state,
    without_overlaps,
)

TEXT: Final = "text"
"""The attribute that is what a node says as a whole, such as the wording of a rule."""

EdgeKey = tuple[str, str, str]
EdgesFrom = Callable[[str], Iterable[Edge]]
"""Returns the relations that start at a node."""


@dataclass
class GraphDraft:
    """What is known, with changes laid over it; only these are handed on."""

    known: Mapping[str, Node]
    edges_from: EdgesFrom
    names: Names
    trust: int = TrustLevel.DEFAULT
    changed_nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    changed_edges: dict[EdgeKey, Edge] = field(default_factory=dict[EdgeKey, Edge])
    _by_source: dict[str, dict[EdgeKey, Edge]] = field(
        default_factory=dict[str, "dict[EdgeKey, Edge]"], init=False
    )

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
        found.update(self._by_source.get(src, {}))
        return list(found.values())

    def apply(self, claim: AnyClaim, *, is_replacing: bool = False) -> None:
        """Accept a claim, in place of all that holds in its scenes if it `is_replacing`."""
        if isinstance(claim, EdgeClaim):
            self._apply_edge(claim)
        else:
            self._apply_node(claim, is_replacing=is_replacing)

    def _apply_node(self, claim: GraphClaim, *, is_replacing: bool) -> None:
        old = self.node(claim.node_id)
        base = old or Node(claim.node_id, claim.type, claim.name, trust=self.trust)
        attrs: dict[str, Json] = dict(base.attrs)
        if claim.attribute:
            state = ScopedValue(claim.value, claim.scope, claim.source)
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
        self._by_source.setdefault(edge.src, {})[_key(edge)] = edge


def scope_of(edge: Edge) -> SceneRange:
    """Return when a relation holds; to be in a scene is to be there in that scene alone."""
    found = SceneRange.from_json(dict(edge.attrs))
    kind, _, slug = edge.dst.partition(":")
    if found.since is None and kind == "scene" and (point := find_point(slug)) is not None:
        return SceneRange(point, point)
    return found


def _key(edge: Edge) -> EdgeKey:
    return edge.src, edge.dst, edge.type


_LIFE: Final = "life"
_DEAD: Final = "dead"


class ClashKind(StrEnum):
    """In which way two facts exclude each other."""

    FUNCTIONAL = "functional_attribute"
    ANTONYM = "antonym"
    EXCLUSIVE_EDGE = "exclusive_edge"
    DEAD_ACTING = "dead_acting"
    WORLD_RULE = "world_rule"
    DISAGREEMENT = "disagreement"


@dataclass(frozen=True, slots=True)
class GraphClash:
    """What is known that a claim contradicts."""

    kind: ClashKind
    node_id: str
    attribute: str
    existing: dict[str, Json]
    told: str


def find_clash(draft: GraphDraft, rules: ConflictRules, claim: AnyClaim) -> GraphClash | None:
    """Return what a claim contradicts, or None."""
    if isinstance(claim, EdgeClaim):
        return _exclusive(draft, rules, claim) or _acts_dead(draft, rules, claim)
    node = draft.node(claim.node_id)
    if node is None or not claim.attribute or claim.value is None:
        return None
    functional = rules.functional(claim.attribute)
    if functional is not None and rules.meaning(claim.attribute, claim.value) is not None:
        return _other_value(rules, node, claim) or _died_acting(draft, rules, node, claim)
    return _opposite(rules, node, claim)


def excludes(
    old: SceneRange, new: SceneRange, *, changes: bool, old_is_final: bool, new_is_final: bool
) -> bool:
    """Say whether two different values in these scenes cannot both be true.

    What surely begins later is a change, unless the earlier one was said to last or is final.
    """
    if not old.overlaps(new):
        return False
    if not changes:
        return True
    if new.begins_after(old):
        return old_is_final or old.until is not None
    if old.begins_after(new):
        return new_is_final or new.until is not None
    return True


def _other_value(rules: ConflictRules, node: Node, claim: GraphClaim) -> GraphClash | None:
    functional = rules.functional(claim.attribute)
    meant = rules.meaning(claim.attribute, claim.value)
    if functional is None or meant is None:
        return None
    rule = rules.rule(functional)
    for attribute in node.attrs:
        if rules.functional(attribute) != functional:
            continue
        for state in states_of(node.attrs, attribute):
            known = rules.meaning(attribute, state.value)
            if known is None or rules.same(functional, known, meant):
                continue
            if excludes(
                state.scope,
                claim.scope,
                changes=rule.changes,
                old_is_final=rules.is_final(functional, known),
                new_is_final=rules.is_final(functional, meant),
            ):
                return _clash(ClashKind.FUNCTIONAL, node, attribute, state, claim)
    return None


def _opposite(rules: ConflictRules, node: Node, claim: GraphClaim) -> GraphClash | None:
    for state in states_of(node.attrs, claim.attribute):
        pair = rules.antonym(state.value, claim.value)
        if pair is not None and excludes(
            state.scope, claim.scope, changes=True, old_is_final=False, new_is_final=False
        ):
            return _clash(ClashKind.ANTONYM, node, claim.attribute, state, claim)
    return None


def _died_acting(
    draft: GraphDraft, rules: ConflictRules, node: Node, claim: GraphClaim
) -> GraphClash | None:
    """Somebody is said to be dead who acts in a later scene."""
    if rules.functional(claim.attribute) != _LIFE:
        return None
    if rules.meaning(claim.attribute, claim.value) != _DEAD:
        return None
    for edge in draft.edges(node.id):
        if not rules.is_acting(edge.type, edge.attrs):
            continue
        there = scope_of(edge)
        if _is_during(there, claim.scope):
            return _edge_clash(
                ClashKind.DEAD_ACTING, node.id, edge, f"{node.name} is {edge.type} {edge.dst}"
            )
    return None


def _acts_dead(draft: GraphDraft, rules: ConflictRules, claim: EdgeClaim) -> GraphClash | None:
    """Somebody is said to act who is dead by then."""
    node = draft.node(claim.src)
    if node is None or not rules.is_acting(claim.type, claim.attrs):
        return None
    there = scope_of(Edge(claim.src, claim.dst, claim.type, claim.scope.to_json()))
    for attribute in node.attrs:
        if rules.functional(attribute) != _LIFE:
            continue
        for state in states_of(node.attrs, attribute):
            is_dead = rules.meaning(attribute, state.value) == _DEAD
            if is_dead and _is_during(there, state.scope):
                told = f"{node.name} is {_told(state)}"
                return GraphClash(ClashKind.DEAD_ACTING, node.id, attribute, state.to_json(), told)
    return None


def _is_during(there: SceneRange, dead: SceneRange) -> bool:
    """Say whether an appearance surely comes when somebody is dead; dying in a scene is acting."""
    if not there.overlaps(dead):
        return False
    return dead.since is None or there.begins_after(dead)


def _exclusive(draft: GraphDraft, rules: ConflictRules, claim: EdgeClaim) -> GraphClash | None:
    for other in rules.excluded_by(claim.type):
        pairs = [(claim.src, claim.dst)]
        if rules.is_symmetric(other):
            pairs.append((claim.dst, claim.src))
        for src, dst in pairs:
            edge = draft.edge(src, dst, other)
            if edge is None:
                continue
            if excludes(
                scope_of(edge), claim.scope, changes=True, old_is_final=False, new_is_final=False
            ):
                return _edge_clash(
                    ClashKind.EXCLUSIVE_EDGE, claim.src, edge, f"{src} {other} {dst}"
                )
    return None


def _clash(
    kind: ClashKind, node: Node, attribute: str, state: ScopedValue, claim: GraphClaim
) -> GraphClash:
    told = f"{node.name}: {attribute} is {_told(state)}, not {claim.value!r}"
    return GraphClash(kind, node.id, attribute, state.to_json(), told)


def _edge_clash(kind: ClashKind, node_id: str, edge: Edge, told: str) -> GraphClash:
    existing: dict[str, Json] = {
        "src": edge.src,
        "dst": edge.dst,
        "type": edge.type,
        **scope_of(edge).to_json(),
        "source": edge.source,
    }
    return GraphClash(kind, node_id, edge.type, existing, told)


def _told(state: ScopedValue) -> str:
    since = f" since {state.scope.since}" if state.scope.since is not None else ""
    return f"{state.value!r}{since}"


def rule_clash(node: Node, text: str, told: str) -> GraphClash:
    """Return the clash of a new rule of the world with one that is known."""
    point = find_point(node.first_seen)
    existing = ScopedValue(text, SceneRange(point), node.source).to_json()
    return GraphClash(ClashKind.WORLD_RULE, node.id, "text", existing, told)

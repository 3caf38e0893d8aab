"""Merging: what is told about nodes and edges becomes part of what is known, or is taken out.

Merging the same again changes nothing. It judges no truth: what contradicts is settled before.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from callboard.core.canonical import Json, canonical_json
from callboard.core.errors import InvalidInput
from callboard.core.words import folded_name
from callboard.knowledge.errors import TypeChanged, UnknownNode
from callboard.knowledge.graph import rows
from callboard.knowledge.graph.values import (
    AttrChange,
    Edge,
    GraphVocabulary,
    MergeReport,
    Node,
    read_vocabulary,
)
from callboard.knowledge.rows import KnowledgePart, next_version, storable
from callboard.store.connection import Connection


@dataclass(slots=True)
class _Outcome:
    """What a merge is going to write."""

    added: dict[str, Node] = field(default_factory=dict[str, Node])
    updated: dict[str, Node] = field(default_factory=dict[str, Node])
    told: list[Node] = field(default_factory=list[Node])
    changes: list[tuple[str, AttrChange]] = field(default_factory=list[tuple[str, AttrChange]])


def merge(
    connection: Connection, domain: str, nodes: Iterable[Node], edges: Iterable[Edge], now: int
) -> MergeReport:
    """Merge nodes and edges into a domain and move it to its next version if that changed it."""
    vocabulary = read_vocabulary(connection, domain)
    told = [_clean_node(node, vocabulary) for node in nodes]
    links = [_clean_edge(edge, domain, vocabulary) for edge in edges]
    outcome = _merged_nodes(connection, domain, told, now)
    _require_ends(connection, domain, links, set(outcome.added))
    edges_added, edges_updated = _merged_edges(connection, domain, links)
    report = MergeReport(
        len(outcome.added), len(outcome.updated), len(edges_added), len(edges_updated)
    )
    if report.has_changed:
        version = next_version(connection, KnowledgePart.GRAPH, domain)
        written = [*outcome.added.values(), *outcome.updated.values()]
        rows.store_nodes(connection, domain, written, now, version)
        rows.store_edges(connection, domain, [*edges_added, *edges_updated], now, version)
        rows.store_changes(connection, domain, outcome.changes)
    rows.store_provenance(connection, domain, outcome.told, now)
    return report


def _merged_nodes(connection: Connection, domain: str, told: list[Node], now: int) -> _Outcome:
    known = rows.load_nodes(connection, domain, (node.id for node in told))
    outcome = _Outcome(told=told)
    for node in told:
        old = known.get(node.id)
        if old is None:
            attrs = {key: value for key, value in node.attrs.items() if value is not None}
            known[node.id] = outcome.added[node.id] = replace(
                node, attrs=attrs, aliases=_joined(node.name, (), node.aliases), updated_at=now
            )
            continue
        _require_same_type(old, node)
        changes = _attr_changes(old, node, now)
        new = _combined(old, node, now, has_changes=bool(changes))
        if new is old:
            continue
        outcome.changes += [(node.id, change) for change in changes]
        target = outcome.added if node.id in outcome.added else outcome.updated
        known[node.id] = target[node.id] = new
    return outcome


def _combined(old: Node, told: Node, now: int, *, has_changes: bool) -> Node:
    """Return a node with what is newly told, or the same one if nothing is new."""
    name = told.name or old.name
    attrs = _joined_attrs(old.attrs, told.attrs)
    # A renamed thing is still found under the name it had.
    aliases = _joined(name, (*old.aliases, old.name), told.aliases)
    new = replace(
        old,
        name=name,
        attrs=attrs,
        aliases=aliases,
        content=told.content or old.content,
        first_seen=old.first_seen or told.first_seen,
    )
    if new == old and not has_changes:
        return old
    return replace(new, source=told.source or old.source, trust=told.trust, updated_at=now)


def _attr_changes(old: Node, told: Node, now: int) -> list[AttrChange]:
    return [
        AttrChange(attr, old.attrs.get(attr), value, told.source, now)
        for attr, value in told.attrs.items()
        if not _is_same(old.attrs.get(attr), value)
    ]


def _joined_attrs(old: Mapping[str, Json], told: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes with the told ones in place; a told None takes one away."""
    joined = dict(old)
    for attr, value in told.items():
        if not _is_same(joined.get(attr), value):
            joined[attr] = value
    return {attr: value for attr, value in joined.items() if value is not None}


def _is_same(one: Json, other: Json) -> bool:
    if one is other or (isinstance(one, str) and isinstance(other, str)):
        return one == other
    # In JSON, true is not 1; Python takes them for equal.
    return canonical_json(one) == canonical_json(other)


def _joined(name: str, old: Iterable[str], told: Iterable[str]) -> tuple[str, ...]:
    """Return aliases in the order in which they became known, none twice, none the name itself."""
    seen = {folded_name(name), ""}
    joined: list[str] = []
    for alias in (*old, *told):
        key = folded_name(alias)
        if key not in seen:
            seen.add(key)
            joined.append(alias)
    return tuple(joined)


def _merged_edges(
    connection: Connection, domain: str, links: list[Edge]
) -> tuple[list[Edge], list[Edge]]:
    known = rows.load_edges_from(connection, domain, (edge.src for edge in links))
    added: dict[tuple[str, str, str, str], Edge] = {}
    updated: dict[tuple[str, str, str, str], Edge] = {}
    for edge in links:
        old = known.get(edge.key)
        if old is None:
            attrs = {key: value for key, value in edge.attrs.items() if value is not None}
            known[edge.key] = added[edge.key] = replace(edge, attrs=attrs)
            continue
        attrs = _joined_attrs(old.attrs, edge.attrs)
        if not _is_same(attrs, old.attrs) or edge.weight != old.weight:
            source = edge.source or old.source
            new = replace(old, attrs=attrs, weight=edge.weight, source=source)
            target = added if edge.key in added else updated
            known[edge.key] = target[edge.key] = new
    return list(added.values()), list(updated.values())


def _require_ends(connection: Connection, domain: str, links: list[Edge], added: set[str]) -> None:
    wanted: dict[str, set[str]] = {}
    for edge in links:
        wanted.setdefault(domain, set()).add(edge.src)
        wanted.setdefault(edge.dst_domain or domain, set()).add(edge.dst)
    for where, ids in wanted.items():
        there = rows.existing_ids(connection, where, ids)
        missing = sorted(ids - there - (added if where == domain else set()))
        if missing:
            raise UnknownNode(
                f"No node {', '.join(map(repr, missing[:5]))} in the domain {where!r}.",
                fix="Merge the nodes together with the edges that need them.",
                domain=where,
                missing=list(missing),
            )


def _require_same_type(old: Node, told: Node) -> None:
    if old.type != told.type:
        raise TypeChanged(
            f"The node {old.id!r} is a {old.type}, not a {told.type}.",
            fix="Give the other thing an id of its own, or remove the old node first.",
            id=old.id,
            known=old.type,
            told=told.type,
        )


def _clean_node(node: Node, vocabulary: GraphVocabulary) -> Node:
    vocabulary.require_node(node.type)
    if not node.id.strip() or not node.name.strip():
        raise InvalidInput(
            f"A node needs an id and a name; this one has {node.id!r} and {node.name!r}.",
            fix="Name it; node_id(type, name) makes the id.",
        )
    if not 0 <= node.trust <= 100:
        raise InvalidInput(
            f"The trust of {node.id!r} is {node.trust}.", fix="Give a number from 0 to 100."
        )
    return replace(
        node,
        id=storable(node.id),
        name=storable(node.name),
        aliases=tuple(map(storable, node.aliases)),
        content=storable(node.content),
        source=storable(node.source),
        first_seen=None if node.first_seen is None else storable(node.first_seen),
    )


def _clean_edge(edge: Edge, domain: str, vocabulary: GraphVocabulary) -> Edge:
    vocabulary.require_edge(edge.type)
    if not math.isfinite(edge.weight) or edge.weight < 0:
        raise InvalidInput(
            f"The edge {edge.src} {edge.type} {edge.dst} weighs {edge.weight}.",
            fix="Give a finite weight of 0 or more.",
        )
    return replace(
        edge,
        src=storable(edge.src),
        dst=storable(edge.dst),
        source=storable(edge.source),
        dst_domain="" if edge.dst_domain == domain else edge.dst_domain,
    )


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
        next_version(connection, KnowledgePart.GRAPH, each, has_removed=True)
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
        next_version(connection, KnowledgePart.GRAPH, domain, has_removed=True)
    return removed

"""Values of the graph: nodes, edges, what changed, and which types of them a domain has."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json, digest_bytes
from callboard.core.errors import InvalidInput
from callboard.core.words import folded
from callboard.knowledge.errors import UnknownType
from callboard.store.connection import Connection

_NO_WORD: Final = re.compile(r"[\W_]+")
_HASH_CHARS: Final = 12


class TrustLevel(IntEnum):
    """How much a source is believed, the named levels; any number from 0 to 100 is allowed."""

    GROUND = 100
    RECENT = 80
    STANDARD = 70
    ACADEMIC = 60
    DEFAULT = 50
    OLD_HISTORY = 40
    BLOG = 30
    MODEL = 20


@dataclass(frozen=True, slots=True)
class Node:
    """A thing that is known. `content` is what it is found by when searching by meaning."""

    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    attrs: Mapping[str, Json] = field(default_factory=dict[str, Json])
    source: str = ""
    trust: int = TrustLevel.DEFAULT
    first_seen: str | None = None
    updated_at: int = 0
    content: str = ""

    def answers_to(self) -> tuple[str, ...]:
        """Return the name and the aliases."""
        return self.name, *self.aliases


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed relation of two nodes; there is at most one per source, target and type.

    An empty `dst_domain` is the domain of the graph the edge is in.
    """

    src: str
    dst: str
    type: str
    attrs: Mapping[str, Json] = field(default_factory=dict[str, Json])
    source: str = ""
    weight: float = 1.0
    dst_domain: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What there is only one of."""
        return self.src, self.dst_domain, self.dst, self.type


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge changed; all zero if everything was already known."""

    nodes_added: int = 0
    nodes_updated: int = 0
    edges_added: int = 0
    edges_updated: int = 0

    @property
    def has_changed(self) -> bool:
        """Whether anything was written."""
        return bool(
            self.nodes_added or self.nodes_updated or self.edges_added or self.edges_updated
        )


@dataclass(frozen=True, slots=True)
class AttrChange:
    """An attribute got another value; None stands for no value."""

    attr: str
    old: Json
    new: Json
    source: str
    at: int


@dataclass(frozen=True, slots=True)
class NodeProvenance:
    """Who said something about a node, and when for the first time."""

    source: str
    trust: int
    at: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A part of the graph, the most relevant node first; `missing` are seeds nobody knows."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    ranks: Mapping[str, float] = field(default_factory=dict[str, float])
    missing: tuple[str, ...] = ()


def slug(name: str) -> str:
    """Return a name as it stands in an id: lower case, words joined by hyphens."""
    plain = folded(name)
    joined = _NO_WORD.sub("-", plain).strip("-")
    # A name of punctuation alone still needs an id of its own.
    return joined or digest_bytes(name.encode("utf-8", "replace"))[:_HASH_CHARS]


def node_id(node_type: str, name: str) -> str:
    """Return the id of a node by its type and name: `character:mickey-bardot`."""
    return f"{node_type}:{slug(name)}"


_NODE: Final = "node"
_EDGE: Final = "edge"


@dataclass(frozen=True, slots=True)
class GraphVocabulary:
    """The types of one domain."""

    domain: str
    nodes: frozenset[str]
    edges: frozenset[str]

    def require_node(self, name: str) -> None:
        """Refuse a type of node this domain does not have."""
        if name not in self.nodes:
            raise self._unknown(_NODE, name, self.nodes)

    def require_edge(self, name: str) -> None:
        """Refuse a type of edge this domain does not have."""
        if name not in self.edges:
            raise self._unknown(_EDGE, name, self.edges)

    def _unknown(self, kind: str, name: str, known: frozenset[str]) -> UnknownType:
        listed = ", ".join(sorted(known)) or "none"
        return UnknownType(
            f"The domain {self.domain!r} has no {kind} type {name!r}; it has: {listed}.",
            fix=f"Use one of these, or define {name!r} with Knowledge.define.",
            domain=self.domain,
            kind=kind,
            type=name,
            known=sorted(known),
        )


def read_vocabulary(connection: Connection, domain: str) -> GraphVocabulary:
    """Return the types of a domain: the bundled ones and those defined in this project."""
    bundled = _bundled().get(domain, {})
    found: dict[str, set[str]] = {
        _NODE: set(bundled.get("nodes", ())),
        _EDGE: set(bundled.get("edges", ())),
    }
    rows: Any = connection.execute(
        "SELECT kind, name FROM knowledge_types WHERE domain = :domain", {"domain": domain}
    )
    for row in rows:
        found.setdefault(row["kind"], set()).add(row["name"])
    return GraphVocabulary(domain, frozenset(found[_NODE]), frozenset(found[_EDGE]))


def define_types(
    connection: Connection, domain: str, nodes: Iterable[str], edges: Iterable[str]
) -> None:
    """Give a domain more types within a unit of work; those it has are left alone."""
    for kind, names in ((_NODE, nodes), (_EDGE, edges)):
        for name in names:
            if not name.strip() or not domain.strip():
                raise InvalidInput(
                    f"The {kind} type {name!r} of the domain {domain!r} has no name.",
                    fix="Name both the domain and the type.",
                )
            connection.execute(
                "INSERT INTO knowledge_types (domain, kind, name) VALUES (:domain, :kind, :name)"
                " ON CONFLICT (domain, kind, name) DO NOTHING",
                {"domain": domain, "kind": kind, "name": name},
            )


def _bundled() -> dict[str, dict[str, list[str]]]:
    return bundled_yaml("callboard.knowledge.graph", "domains.yaml")

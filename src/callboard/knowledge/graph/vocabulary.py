"""Which types of nodes and edges a domain has: data, some bundled, some defined by packs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.errors import InvalidInput
from callboard.knowledge.errors import UnknownType
from callboard.store.connection import Connection

_NODE: Final = "node"
_EDGE: Final = "edge"


@dataclass(frozen=True, slots=True)
class Vocabulary:
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


def read_vocabulary(connection: Connection, domain: str) -> Vocabulary:
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
    return Vocabulary(domain, frozenset(found[_NODE]), frozenset(found[_EDGE]))


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

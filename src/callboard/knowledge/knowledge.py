"""Knowledge: what a project knows, in one store. Loads nothing before it is asked.

Graph and facts are views of a domain, the library of a collection. A view that only one system
needs (the lifecycle of entities, say) is a sub-folder beside `graph`, `facts` and `library`.
"""

from collections.abc import Iterable
from functools import cached_property

from callboard.core.clock import Clock
from callboard.core.errors import InvalidInput
from callboard.core.ids import IdMaker
from callboard.knowledge.embedding import Embedder, OfflineEmbedder
from callboard.knowledge.facts import Facts
from callboard.knowledge.graph import Graph
from callboard.knowledge.graph.values import define_types
from callboard.knowledge.library import Library
from callboard.knowledge.vector_index import Indexing
from callboard.store.connection import Connection
from callboard.store.database import Database


class Knowledge:
    """The knowledge of one project."""

    def __init__(
        self,
        database: Database,
        ids: IdMaker,
        clock: Clock,
        embedder: Embedder | None = None,
        indexing: Indexing | None = None,
    ) -> None:
        """Take where it is kept, what embeds texts if not the offline one, where indexes lie."""
        self.embedder: Embedder = embedder or OfflineEmbedder()
        self._database = database
        self._ids = ids
        self._clock = clock
        self._indexing = indexing or Indexing()
        self._graphs: dict[str, Graph] = {}
        self._facts: dict[str, Facts] = {}

    def graph(self, domain: str) -> Graph:
        """Return the graph of a domain; the same object every time, so that its cache is shared."""
        if domain not in self._graphs:
            _require_name(domain)
            self._graphs[domain] = Graph(
                self._database, domain, self._clock, self.embedder, self._indexing
            )
        return self._graphs[domain]

    def facts(self, domain: str) -> Facts:
        """Return the soft facts of a domain."""
        if domain not in self._facts:
            _require_name(domain)
            self._facts[domain] = Facts(self._database, domain, self._ids, self._clock)
        return self._facts[domain]

    @cached_property
    def library(self) -> Library:
        """The collections of documents."""
        return Library(self._database, self._clock, self.embedder, self._indexing)

    async def define(
        self, domain: str, *, nodes: Iterable[str] = (), edges: Iterable[str] = ()
    ) -> None:
        """Give a domain more types of nodes and edges; those it has are left alone."""
        node_types, edge_types = tuple(nodes), tuple(edges)
        await self._database.write(
            lambda connection: self.define_in(connection, domain, node_types, edge_types)
        )

    def define_in(
        self,
        connection: Connection,
        domain: str,
        nodes: Iterable[str] = (),
        edges: Iterable[str] = (),
    ) -> None:
        """Give a domain more types within a caller's unit of work."""
        define_types(connection, domain, nodes, edges)


def _require_name(domain: str) -> None:
    if not domain.strip():
        raise InvalidInput("A domain needs a name.", fix="Name the domain, as in 'story'.")

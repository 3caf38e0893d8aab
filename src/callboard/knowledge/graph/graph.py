"""Graph: what is known for certain in one domain. Rows are the truth, memory is a cache of them."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice

from callboard.core.canonical import Json
from callboard.core.clock import Clock
from callboard.core.words import folded_name
from callboard.knowledge.embedding import Embedder
from callboard.knowledge.graph import rows, walking
from callboard.knowledge.graph.memory import GraphMemory, export_graph, load_memory
from callboard.knowledge.graph.merging import merge, remove_edges, remove_nodes
from callboard.knowledge.graph.similarity import (
    NodeSearch,
    Vectors,
    load_pending,
    make_vectors,
    store_vectors,
)
from callboard.knowledge.graph.values import (
    AttrChange,
    Edge,
    GraphVocabulary,
    MergeReport,
    Node,
    NodeProvenance,
    Subgraph,
    read_vocabulary,
)
from callboard.knowledge.graph.walking import in_order, rank_all
from callboard.knowledge.rows import KnowledgePart, next_version, read_version
from callboard.knowledge.vector_index import Indexing
from callboard.store.connection import Connection
from callboard.store.database import Database


class Graph:
    """The nodes and edges of one domain."""

    def __init__(
        self,
        database: Database,
        domain: str,
        clock: Clock,
        embedder: Embedder,
        indexing: Indexing | None = None,
    ) -> None:
        """Read nothing yet."""
        self.domain = domain
        self._database = database
        self._clock = clock
        self._embedder = embedder
        self._memory: GraphMemory | None = None
        # The highest rank first.
        self._ranks: tuple[GraphMemory, dict[str, float]] | None = None
        self._search = NodeSearch(database, domain, embedder, self.memory, indexing or Indexing())

    def version(self) -> int:
        """Return a number that grows with every commit that changes this domain, by anybody."""
        return self._database.read(
            lambda connection: read_version(connection, KnowledgePart.GRAPH, self.domain).number
        )

    def vocabulary(self) -> GraphVocabulary:
        """Return the types this domain has."""
        return self._database.read(lambda connection: read_vocabulary(connection, self.domain))

    def node(self, node_id: str) -> Node | None:
        """Return a node, or None if there is none."""
        return self.memory().nodes.get(node_id)

    def find(self, name_or_alias: str, type: str | None = None) -> Node | None:  # noqa: A002 - the word of the domain
        """Return the node that answers to a name, whatever its case; real names before aliases."""
        memory = self.memory()
        for node_id in memory.by_name.get(folded_name(name_or_alias), ()):
            if type is None or memory.nodes[node_id].type == type:
                return memory.nodes[node_id]
        return None

    def nodes(self, type: str | None = None) -> tuple[Node, ...]:  # noqa: A002 - the word of the domain
        """Return all nodes, or those of a type, by id."""
        memory = self.memory()
        every = (memory.nodes[each] for each in memory.ids)
        return tuple(node for node in every if type is None or node.type == type)

    def edges(
        self,
        src: str | None = None,
        dst: str | None = None,
        type: str | None = None,  # noqa: A002 - the word of the domain
    ) -> tuple[Edge, ...]:
        """Return the edges from a node, to a node or of a type, in order."""
        memory = self.memory()
        if src is not None:
            some: Iterable[Edge] = memory.by_source.get(src, ())
        elif dst is not None:
            some = memory.by_target.get(dst, ())
        else:
            some = memory.ordered_edges
        return tuple(
            edge
            for edge in some
            if (dst is None or edge.dst == dst) and (type is None or edge.type == type)
        )

    def edges_from_elsewhere(self, node_id: str) -> tuple[tuple[str, Edge], ...]:
        """Return the edges of other domains that end at a node, each with its domain.

        For questions across a software team's code, history and reading.
        """
        return self._database.read(
            lambda connection: tuple(rows.load_edges_into(connection, self.domain, [node_id]))
        )

    def attr_history(self, node_id: str) -> tuple[AttrChange, ...]:
        """Return what the attributes of a node were, oldest change first."""
        return self._database.read(
            lambda connection: rows.load_changes(connection, self.domain, node_id)
        )

    def provenance(self, node_id: str) -> tuple[NodeProvenance, ...]:
        """Return who said something about a node, the first one first."""
        return self._database.read(
            lambda connection: rows.load_provenance(connection, self.domain, node_id)
        )

    async def merge(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge] = (),
        *,
        connection_work: Callable[[Connection], None] | None = None,
    ) -> MergeReport:
        """Merge nodes and edges, and do other work in the same transaction; durable on return."""
        told, links = tuple(nodes), tuple(edges)
        vectors = await asyncio.to_thread(self.prepare, told)

        def act(connection: Connection) -> MergeReport:
            report = self.merge_in(connection, told, links, vectors=vectors)
            if connection_work is not None:
                connection_work(connection)
            return report

        return await self._database.write(act)

    def prepare(self, nodes: Iterable[Node]) -> Vectors:
        """Return the vectors of nodes with content, for `merge_in`; slow, so before the write."""
        known = self.memory().nodes
        return make_vectors(
            self._embedder,
            (
                replace(node, content=known[node.id].content)
                if not node.content and node.id in known
                else node
                for node in nodes
            ),
        )

    def merge_in(
        self,
        connection: Connection,
        nodes: Iterable[Node],
        edges: Iterable[Edge] = (),
        now: int | None = None,
        *,
        vectors: Vectors | None = None,
    ) -> MergeReport:
        """Merge within a caller's unit of work; content without a vector waits for `catch_up`."""
        told = tuple(nodes)
        at = self._clock.now_ms() if now is None else now
        report = merge(connection, self.domain, told, edges, at)
        ids = [node.id for node in told]
        store_vectors(connection, self.domain, self._embedder.name, ids, vectors or {})
        return report

    async def catch_up(self) -> int:
        """Make the vectors that are missing, and return how many that were."""
        model = self._embedder.name
        waiting = self._database.read(
            lambda connection: rows.load_nodes(
                connection, self.domain, load_pending(connection, self.domain, model)
            )
        )
        if not waiting:
            return 0
        vectors = await asyncio.to_thread(self.prepare, tuple(waiting.values()))

        def act(connection: Connection) -> None:
            store_vectors(connection, self.domain, model, waiting, vectors)
            next_version(connection, KnowledgePart.GRAPH, self.domain)

        await self._database.write(act)
        await asyncio.to_thread(self.update_index)
        return len(waiting)

    def update_index(self) -> None:
        """Bring the index of a large domain up to date; a small one needs none."""
        self._search.update_index()

    async def remove(self, ids: Iterable[str] = (), edges: Iterable[Edge] = ()) -> int:
        """Remove nodes with all that hangs on them, and single edges; return how many of both."""
        gone, links = tuple(ids), tuple(edges)
        return await self._database.write(
            lambda connection: self.remove_in(connection, gone, links)
        )

    def remove_in(
        self, connection: Connection, ids: Iterable[str] = (), edges: Iterable[Edge] = ()
    ) -> int:
        """Remove within a caller's unit of work; return how many nodes and named edges are gone."""
        return remove_edges(connection, self.domain, edges) + remove_nodes(
            connection, self.domain, ids
        )

    def load_in(self, connection: Connection, ids: Iterable[str]) -> dict[str, Node]:
        """Return those of the named nodes that are there, as a unit of work sees them."""
        return rows.load_nodes(connection, self.domain, ids)

    def central(self, n: int = 10, type: str | None = None) -> list[tuple[Node, float]]:  # noqa: A002 - the word of the domain
        """Return the most central nodes with their rank, the highest first."""
        memory = self.memory()
        ranks = self._all_ranks(memory)
        nodes = (memory.nodes[each] for each in ranks)
        chosen = (node for node in nodes if type is None or node.type == type)
        return [(node, ranks[node.id]) for node in islice(chosen, max(n, 0))]

    def ranks(self, seeds: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the rank of every node, as seen from the seeds if there are any."""
        memory = self.memory()
        return dict(rank_all(memory, seeds) if seeds else self._all_ranks(memory))

    def path(self, a: str, b: str) -> list[Node] | None:
        """Return the nodes along a shortest way between two, or None if there is none."""
        memory = self.memory()
        way = walking.shortest_path(memory, a, b)
        return None if way is None else [memory.nodes[each] for each in way]

    def distance(self, a: str, b: str) -> int | None:
        """Return how many edges lie between two nodes, or None if no way does."""
        way = walking.shortest_path(self.memory(), a, b)
        return None if way is None else len(way) - 1

    def neighbours(
        self, node_id: str, hops: int = 1, types: Collection[str] | None = None
    ) -> tuple[Node, ...]:
        """Return the nodes around one, nearest first, if wanted only those of some types."""
        memory = self.memory()
        reached = walking.within_hops(memory, [node_id], hops)
        reached.pop(node_id, None)
        ordered = sorted(reached, key=lambda each: (reached[each], each))
        found = (memory.nodes[each] for each in ordered)
        return tuple(node for node in found if types is None or node.type in types)

    def subgraph(
        self, seeds: Iterable[str], hops: int = 1, cap: int = 40, always: Iterable[str] = ()
    ) -> Subgraph:
        """Return what lies around the seeds: seeds, then `always`, then by rank from the seeds."""
        return walking.extract(self.memory(), seeds, hops, cap, always)

    def similar(
        self, query: str, k: int = 8, types: Collection[str] | None = None
    ) -> list[tuple[Node, float]]:
        """Return the k nodes nearest in meaning to a text; only nodes with content are found."""
        return self._search.like_text(query, k, types)

    def similar_to(
        self, node_id: str, k: int = 8, types: Collection[str] | None = None
    ) -> list[tuple[Node, float]]:
        """Return the k nodes nearest in meaning to a node, without itself.

        For a software team's keepers of code and history, who look for what is like a finding.
        """
        return self._search.like_node(node_id, k, types)

    def export(self) -> Json:
        """Return the domain as JSON."""
        return export_graph(self.domain, self.memory())

    def memory(self) -> GraphMemory:
        """Return the whole graph of the present version; never changes once returned."""
        known = self._memory
        memory = self._database.read(lambda connection: load_memory(connection, self.domain, known))
        self._memory = memory
        return memory

    def _all_ranks(self, memory: GraphMemory) -> dict[str, float]:
        if self._ranks is None or self._ranks[0] is not memory:
            ranks = rank_all(memory)
            self._ranks = memory, {each: ranks[each] for each in in_order(ranks)}
        return self._ranks[1]

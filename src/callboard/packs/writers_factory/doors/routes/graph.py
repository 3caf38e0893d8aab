"""Hard facts: how decisions become part of the graph, what contradicts what, and what is linked."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, started
from callboard.core.errors import NotFound
from callboard.knowledge import Graph, Node
from callboard.knowledge.graph.memory import edge_json, node_json
from callboard.packs.writers_factory.doors.routes.request import (
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.memory import operations

router = APIRouter(prefix="/factory", tags=["factory: graph"])

Named = Annotated[str, Query(min_length=1, max_length=300, description="A node's id or name.")]
Kind = Annotated[str | None, Query(max_length=60, description="Only nodes of this type.")]
ConflictId = Annotated[str, Path(max_length=100)]


class ConsolidationWanted(Wanted):
    """What is to be brought into the graph besides decisions."""

    conversations: bool = True
    session_id: SessionId = None


class ConflictShape(Shown):
    """A contradiction, open until the writer resolves it."""

    id: str
    kind: str
    node_id: str
    told: str
    state: str
    resolution: str | None


class Ruling(Wanted):
    """What the writer decides; `scope` names scenes where both facts are true."""

    decision: Literal["keep_existing", "accept_new", "both_with_scope"]
    scope: dict[str, str | int] | None = Field(
        default=None, max_length=4, examples=[{"since_scene": "ch9-sc1"}]
    )


class NodeShape(Shown):
    """A thing the story knows."""

    id: str
    type: str
    name: str
    attrs: Entry


class Ranked(NodeShape):
    """A thing, and how central it is."""

    rank: float


class Way(Shown):
    """How two things are connected; no nodes if they are not."""

    distance: int | None
    nodes: list[NodeShape]


class Part(Shown):
    """A part of the graph, the most relevant node first."""

    nodes: list[NodeShape]
    edges: list[Entry]


class NodeDetail(NodeShape):
    """A thing with what it was before, who said so, and what it is connected with."""

    history: list[Entry]
    provenance: list[Entry]
    edges: list[Entry]


class ExportedGraph(Shown):
    """Where the readable copies lie."""

    graph: str
    conflicts: str


@router.post("/consolidate", status_code=202)
async def consolidate(
    factory: WritersFactory, wanted: ConsolidationWanted | None = None
) -> StartedJob:
    """Bring decisions and conversations into the graph; refused while that is being done."""
    chosen = wanted or ConsolidationWanted()
    args = {"conversations": chosen.conversations}
    return started(await factory.start("consolidate", args, session_id=chosen.session_id))


@router.get("/consolidate")
async def list_reports(factory: WritersFactory, page: Paged) -> list[Entry]:
    """List what consolidations came to, newest first."""
    found = list(reversed(factory.consolidator.reports().items()))
    return [{"run_id": run_id, **report.to_json()} for run_id, report in page.cut(found)]


@router.get("/conflicts")
async def list_conflicts(
    factory: WritersFactory, page: Paged, only_open: bool = True
) -> list[ConflictShape]:
    """List contradictions, oldest first."""
    found = page.cut(factory.consolidator.conflicts(only_open=only_open))
    return [ConflictShape.model_validate(each.to_json()) for each in found]


@router.get("/conflicts/{conflict_id}")
async def show_conflict(factory: WritersFactory, conflict_id: ConflictId) -> ConflictShape:
    """Show a contradiction with both facts and where the new one comes from."""
    return ConflictShape.model_validate(factory.consolidator.conflict(conflict_id).to_json())


@router.post("/conflicts/{conflict_id}")
async def resolve_conflict(
    factory: WritersFactory, conflict_id: ConflictId, wanted: Ruling
) -> ConflictShape:
    """Decide a contradiction; graph and memory follow."""
    decided = await factory.perform(
        operations.resolve_conflict, conflict_id, wanted.decision, wanted.scope
    )
    return ConflictShape.model_validate(decided.to_json())


@router.get("/graph/central")
async def list_central(
    factory: WritersFactory,
    n: Annotated[int, Query(ge=1, le=500)] = 10,
    type: Kind = None,  # noqa: A002 - the word of the domain
) -> list[Ranked]:
    """List the most central nodes with their rank, the highest first."""
    found = factory.rooms.memory.graph.central(n, type)
    return [Ranked.model_validate({**node_json(node), "rank": rank}) for node, rank in found]


@router.get("/graph/path")
async def find_path(factory: WritersFactory, a: Named, b: Named) -> Way:
    """Find a shortest way between two nodes."""
    graph = factory.rooms.memory.graph
    way = graph.path(_find(graph, a).id, _find(graph, b).id)
    nodes = [_node(each) for each in way or ()]
    return Way(distance=None if way is None else len(way) - 1, nodes=nodes)


@router.get("/graph/subgraph")
async def show_subgraph(
    factory: WritersFactory,
    seed: Annotated[list[str], Query(min_length=1, max_length=50, description="Ids or names.")],
    hops: Annotated[int, Query(ge=0, le=5)] = 1,
    cap: Annotated[int, Query(ge=1, le=500)] = 40,
) -> Part:
    """Show what lies around some nodes."""
    graph = factory.rooms.memory.graph
    found = graph.subgraph([_find(graph, each).id for each in seed], hops=hops, cap=cap)
    return Part(
        nodes=[_node(each) for each in found.nodes],
        edges=[edge_json(each) for each in found.edges],
    )


@router.get("/graph/node")
async def show_node(factory: WritersFactory, name: Named) -> NodeDetail:
    """Show a node with its history, its sources and its relations."""
    graph = factory.rooms.memory.graph
    node = _find(graph, name)
    edges = (*graph.edges(src=node.id), *graph.edges(dst=node.id))
    told = {
        **node_json(node),
        "history": [asdict(each) for each in graph.attr_history(node.id)],
        "provenance": [asdict(each) for each in graph.provenance(node.id)],
        "edges": [edge_json(each) for each in edges],
    }
    return NodeDetail.model_validate(told)


@router.get("/graph/export")
async def show_graph(factory: WritersFactory) -> Entry:
    """Show the whole graph as JSON."""
    return factory.rooms.memory.graph.export()


@router.post("/graph/export")
async def export_graph(factory: WritersFactory) -> ExportedGraph:
    """Write graph and conflicts as JSON files of the project; nothing reads them back."""
    paths = await factory.perform(operations.export_graph)
    graph, conflicts = (factory.studio.project.told(path) for path in paths)
    return ExportedGraph(graph=graph, conflicts=conflicts)


def _find(graph: Graph, name: str) -> Node:
    found = graph.node(name) or graph.find(name)
    if found is None:
        raise NotFound(
            f"The graph knows no {name!r}",
            fix="List the central nodes, or consolidate first.",
            name=name,
        )
    return found


def _node(node: Node) -> NodeShape:
    return NodeShape.model_validate(node_json(node))

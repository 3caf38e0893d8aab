"""The part of the graph a scene is written from: who and what is there, and what bears on it."""

from collections.abc import Iterable
from typing import Final

from callboard.knowledge.graph import Edge, Graph, Node, Subgraph, node_id
from callboard.packs.writers_factory.memory.claims import ScenePoint, find_point
from callboard.packs.writers_factory.model import SceneMeta

CAP: Final = 40
RECENT_SCENES: Final = 3
_EVENT_EDGES: Final = ("happens_at", "part_of", "present_in")


def beat_node_id(number: int) -> str:
    """Return the node of a beat."""
    return node_id("beat", f"beat {number}")


def scene_node_id(scene_id: str) -> str:
    """Return the node of a scene."""
    return node_id("scene", scene_id)


def present_ids(graph: Graph, names: Iterable[str]) -> tuple[str, ...]:
    """Return the characters that are known among some names, in their order."""
    found = (graph.find(name, "character") or graph.find(name) for name in names)
    return tuple(dict.fromkeys(node.id for node in found if node is not None))


def seeds_of(graph: Graph, scene: SceneMeta) -> tuple[str, ...]:
    """Return the nodes a scene is made of: who is there, where, and the beat it serves."""
    seeds = list(present_ids(graph, scene.characters))
    place = graph.find(scene.location, "location") if scene.location else None
    if place is not None:
        seeds.append(place.id)
    if scene.beat_number is not None:
        seeds.append(beat_node_id(scene.beat_number))
    return tuple(dict.fromkeys(seeds))


def scene_subgraph(graph: Graph, scene: SceneMeta, *, cap: int = CAP) -> Subgraph:
    """Return what bears on a scene: its seeds, one step around them, rules and recent events."""
    seeds = seeds_of(graph, scene)
    always = (*_rules(graph, seeds), *_recent_events(graph, scene, seeds))
    return graph.subgraph(seeds, hops=1, cap=cap, always=always)


def _rules(graph: Graph, seeds: tuple[str, ...]) -> list[str]:
    """Return the rules that are tied to a seed or to nothing in particular."""
    wanted: list[str] = []
    for rule in graph.nodes("world_rule"):
        bound = {edge.dst for edge in graph.edges(src=rule.id, type="constrains")}
        if not bound or bound & set(seeds):
            wanted.append(rule.id)
    return wanted


def _recent_events(graph: Graph, scene: SceneMeta, seeds: tuple[str, ...]) -> list[str]:
    """Return what happened to somebody of the scene in the last scenes before it."""
    here = (scene.chapter, scene.scene)
    before = sorted(
        point.first
        for node in graph.nodes("scene")
        if (point := find_point(node.id.partition(":")[2])) is not None and point.first < here
    )
    recent = set(before[-RECENT_SCENES:])
    wanted: dict[str, None] = {}
    for seed in seeds:
        for edge in graph.edges(dst=seed, type="involves"):
            event = graph.node(edge.src)
            if event is not None and _points(graph.edges(src=edge.src), event) & recent:
                wanted[edge.src] = None
    return list(wanted)


def _points(edges: Iterable[Edge], event: Node) -> set[tuple[int, int]]:
    named = [
        *(edge.dst.partition(":")[2] for edge in edges if edge.type in _EVENT_EDGES),
        event.attrs.get("scene"),
        event.attrs.get("since_scene"),
        event.first_seen,
    ]
    points: list[ScenePoint | None] = [find_point(each) for each in named]
    return {point.first for point in points if point is not None}
